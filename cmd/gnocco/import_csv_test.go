package main_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

func TestImportCSV(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, "--data", filepath.Join(dir, "data"))
	s.call(http.MethodPost, "/v1/archive_policy", secondsPolicy, http.StatusCreated, nil)
	file := func(name, content string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		fatal.If(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	imported := func(status int, wantStderr, stdin string, args ...string) {
		t.Helper()
		_, stderr, got := run(t, stdin, append([]string{"import", "csv", "--url", s.url, "--archive-policy", "seconds"},
			args...)...)
		if got != status || !strings.Contains(stderr, wantStderr) {
			t.Fatalf("import %q: status %d, want %d and %q:\n%s", args, got, status, wantStderr, stderr)
		}
	}
	want := func(resource, metric, aggregation string, rows ...string) {
		t.Helper()
		got := s.measures("/v1/resource/generic/" + resource + "/metric/" + metric +
			"/measures?refresh=true&aggregation=" + aggregation)
		if got != strings.Join(rows, "\n") {
			t.Errorf("metric %s: got\n%s\nwant\n%s", metric, got, strings.Join(rows, "\n"))
		}
	}

	// Metrics are named after the files; requests are small, so that measures of a metric span several.
	cpu := file("cpu.csv",
		"timestamp,value\n2026-01-01 00:00:01,1\n2026-01-01 00:00:01.25,2\n2026-01-01 00:00:02,0.1\n")
	disk := file("disk.csv", "Time,Value\r\n1767225601,1e3\r\n\r\n1767225601.5,1")
	imported(2, "archive policy seconds keeps 3 of 5 measures of 2 metrics: 5 in 3 groups of 1s", "", "--config",
		file("import.toml", "batch = 1\n"), cpu, disk)
	want("csv", "cpu", "sum", "2026-01-01T00:00:01+00:00 1 3", "2026-01-01T00:00:02+00:00 1 0.1")
	want("csv", "disk", "sum", "2026-01-01T00:00:01+00:00 1 1001")

	// A second import goes on with the same metric; standard input has no name, so its column's counts.
	imported(0, "sent 1 measure", "x;y;cpu\n;2026-01-01 00:00:03;4\n", "--delimiter", ";", "--timestamp-column", "y",
		"--ignore", "x", "-")
	want("csv", "cpu", "sum", "2026-01-01T00:00:01+00:00 1 3", "2026-01-01T00:00:02+00:00 1 0.1",
		"2026-01-01T00:00:03+00:00 1 4")
	imported(0, "sent 1 measure", "1767225604\t5\n", "--delimiter", "tab", "--no-header", "--metric", "cpu", "-")
	want("csv", "cpu", "count", "2026-01-01T00:00:01+00:00 1 2", "2026-01-01T00:00:02+00:00 1 1",
		"2026-01-01T00:00:03+00:00 1 1", "2026-01-01T00:00:04+00:00 1 1")
}

// A wrong year is refused by itself, and drops nothing. A day ahead is a clock's error, or a time zone's.
func TestImportCSVRefusesWhatIsFarAhead(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, "--data", filepath.Join(dir, "data"))
	s.call(http.MethodPost, "/v1/archive_policy", secondsPolicy, http.StatusCreated, nil)
	ahead := time.Now().Add(23 * time.Hour).UTC().Format(time.RFC3339)
	_, stderr, status := run(t, "time,v\n2026-01-01T00:00:01Z,1\n2162-01-01T00:00:02Z,2\n2026-01-01T00:00:03Z,3\n"+ahead+
		",4\n", "import", "csv", "--url", s.url, "--archive-policy", "seconds", "--resource", "house", "-")
	if status != 2 || !strings.Contains(stderr, `-:3: timestamp "2162-01-01T00:00:02Z" is more than 24h0m0s ahead`) ||
		!strings.Contains(stderr, "sent 3 measures") || !strings.Contains(stderr, "rejected 1") {
		t.Errorf("status %d: %s", status, stderr)
	}
	got := s.measures("/v1/resource/generic/house/metric/v/measures?refresh=true&aggregation=sum&stop=2026-02-01")
	if want := "2026-01-01T00:00:01+00:00 1 1\n2026-01-01T00:00:03+00:00 1 3"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestImportCSVWide(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serve(t, "--data", filepath.Join(dir, "data"))
	s.call(http.MethodPost, "/v1/archive_policy", secondsPolicy, http.StatusCreated, nil)
	const wide = "room,\"in, side\",MB/s,time\n" +
		"a,19.5,1,2026-01-01T00:00:01Z\n" +
		"a,,2,2026-01-01T01:00:02+01:00\n" + // a gap
		"a,warm,3,2026-01-01T00:00:03\n" + // one bad value
		"a,20,4,noon\n" + // a bad time
		"a,20\n" +
		"\"a\",\"21\",NaN,2026-01-01T00:00:04\n" +
		"a,-1 hour,5,-1 hour\n"
	_, stderr, status := run(t, wide, "import", "csv", "--url", s.url, "--archive-policy", "seconds", "--resource",
		"house", "--ignore", "room", "-")
	if status != 2 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	for _, text := range []string{
		"-:4: value \"warm\" of metric in, side is not a number", "-:5: timestamp \"noon\"", "-:6: has 2 fields, not 4",
		"-:8: timestamp \"-1 hour\"",
		"sent 5 measures of 2 metrics from 1 file", "rejected 4",
	} {
		if !strings.Contains(stderr, text) {
			t.Errorf("does not say %q:\n%s", text, stderr)
		}
	}
	got := s.measures("/v1/resource/generic/house/metric/in,%20side/measures?refresh=true&aggregation=sum")
	if want := "2026-01-01T00:00:01+00:00 1 19.5\n2026-01-01T00:00:04+00:00 1 21"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	got = s.measures("/v1/resource/generic/house/metric/MB_s/measures?refresh=true&aggregation=count")
	if want :=
		"2026-01-01T00:00:01+00:00 1 1\n2026-01-01T00:00:02+00:00 1 1\n2026-01-01T00:00:03+00:00 1 1"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestImportCSVFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serve(t, "--data", filepath.Join(dir, "data"))
	f := func(wantStatus int, want, stdin string, args ...string) {
		t.Helper()
		_, stderr, status := run(t, stdin, append([]string{"import", "csv", "--url", s.url}, args...)...)
		if status != wantStatus || !strings.Contains(stderr, want) {
			t.Errorf("%q of %q: status %d: %s", args, stdin, status, stderr)
		}
	}
	f(2, "is empty", "", "-")
	f(2, "has no header", "2026-01-01,1\n", "-")
	f(2, "has no column \"t\"", "time,value\n", "--timestamp-column", "t", "-")
	f(2, "has no column of values", "time,value\n", "--ignore", "value", "-")
	f(2, "two columns called 1", "time,1,1\n2026-01-01,1,1\n", "-")
	f(2, "cannot all be metric m", "time,a,b\n", "--metric", "m", "-")
	f(1, "no such file", "", filepath.Join(dir, "nothing.csv"))
	f(1, "Archive policy nonsense does not exist", "time,a\n2026-01-01,1\n", "--archive-policy", "nonsense", "-")
	f(1, "--delimiter", "", "--delimiter", "ab", "-")
	f(1, "is not an http URL", "", "--url", "ftp://127.0.0.1", "-")
	f(1, "usage: gnocco import csv FILE", "")
}

// A dry run says how a file is read and what a policy keeps of it, and sends nothing. The policy auto, the default, is
// the coarsest that keeps each measure in a group of its own.
func TestImportCSVDryRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serve(t, "--data", filepath.Join(dir, "data"))
	path := filepath.Join(dir, "power.csv")
	var text strings.Builder
	text.WriteString("when;power;plant\n")
	at := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
	for i := range 120 {
		text.WriteString(at.Add(time.Duration(i)*time.Minute).Format("02.01.2006 15:04") + ";" + []string{"1,5 W", "2,5 W"}[i%2] +
			";" + []string{"a", "b"}[i%2] + "\n")
	}
	fatal.If(t, os.WriteFile(path, []byte(text.String()), 0o600))
	f := func(status int, want []string, args ...string) {
		t.Helper()
		_, stderr, got := run(t, "", append([]string{"import", "csv", "--url", s.url, path}, args...)...)
		for _, part := range want {
			if !strings.Contains(stderr, part) {
				t.Errorf("import %q: no %q in\n%s", args, part, stderr)
			}
		}
		if got != status {
			t.Fatalf("import %q: status %d, want %d\n%s", args, got, status, stderr)
		}
	}
	f(0, []string{`times in when: like "31.1.2026 17:5", UTC`, "values in power (in W, decimal ',')",
		"left out, no numbers: plant", "120 measures of 1 metric, from 2026-01-15 12:00:00 to 2026-01-15 13:59:00, one every 1m0s",
		"archive policy medium keeps each of 120 measures of 1 metric", "dry run: stopped before sending"}, "--dry-run")
	f(0, []string{"archive policy high keeps each of 120 measures of 1 metric", "dry run"}, "--dry-run", "--archive-policy", "high")
	f(2, []string{"archive policy low keeps 24 of 120 measures of 1 metric, 1 of 5: 120 in 24 groups of 5m0s", "dry run"},
		"--dry-run", "--archive-policy", "low")
	f(1, []string{"Archive policy nope does not exist"}, "--dry-run", "--archive-policy", "nope")
	s.call(http.MethodGet, "/v1/resource/generic/csv", "", http.StatusNotFound, nil)
	f(0, []string{"sent 120 measures of 2 metrics"}, "--archive-policy", "auto", "--resource-column", "plant", "--timezone",
		"Europe/Paris")
	got := s.measures("/v1/resource/generic/b/metric/power/measures?refresh=true&granularity=3600")
	if want := "2026-01-15T11:00:00+00:00 3600 2.5\n2026-01-15T12:00:00+00:00 3600 2.5"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	f(2, []string{"no archive policy keeps these measures, not even the best one: archive policy high keeps 61 of 120",
		`create one, such as {"name":"every-1s-for-1d"`}, "--dry-run", "--time-format", "%M.%d.%Y 15:%S")
	months := "time,v\n2005-01-01,1\n2005-02-01,2\n2005-03-04,3\n2006-01-01,4\n"
	_, stderr, _ := run(t, months, "import", "csv", "--url", s.url, "--archive-policy", "auto", "-")
	_, proposed, _ := strings.Cut(stderr, "create one, such as ") // the server takes it
	s.call(http.MethodPost, "/v1/archive_policy", strings.TrimSpace(proposed), http.StatusCreated, nil)
	_, stderr, status := run(t, months, "import", "csv", "--url", s.url, "--archive-policy", "auto", "-")
	if status != 0 || !strings.Contains(stderr, "sent 4 measures of 1 metric") {
		t.Errorf("%d %s", status, stderr)
	}
}
