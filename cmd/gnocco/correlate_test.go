package main_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCorrelate(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "metrics.csv")
	content := "time,a,host,b,c,d\n" +
		"2026-01-01 00:00:00,1,x,2,8,5\n" +
		"2026-01-01 00:00:10,2,x,4,1,5\n" +
		"2026-01-01 00:00:20,3,y,6,oops,5\n" +
		"2026-01-01 00:00:30,4,y,8,0,5\n"
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	f := func(want, wantStderr, stdin string, status int, args ...string) {
		t.Helper()
		stdout, stderr, got := run(t, stdin, append([]string{"correlate"}, args...)...)
		if got != status || stdout != want || !strings.Contains(stderr, wantStderr) {
			t.Errorf("correlate %q: status %d, want %d\n%s\nwant\n%s\nstandard error\n%s\nwant %q", args, got, status,
				stdout, want, stderr, wantStderr)
		}
	}
	const strong = "(0,1) 1\n"
	f(strong, "left out column timestamp: it holds timestamps",
		"timestamp,a,b\n1767225600,1,2\n1767225610,2,4\n1767225620,4,8\n", 0, "-")
	f("(0,1) 1\n", "left out column a: it holds timestamps", "time,a,b\n1,1,2\n2,2,4\n4,3,8\n", 0, "--timestamp-column",
		"a", "--method", "spearman", "-")
	f(strong, "left out 2 columns without numbers: time, host", "", 0, "--min-abs", "0.95", file)
	f(strong, "line 4, column 5 (c): \"oops\" is not a number", content, 0, "--top", "1", "-")
	f(strong, "1 bad cells, taken as missing", "", 0, "--top", "1", file)
	f(strong, "1 columns are constant, so they have no coefficients: d", "", 0, "--top", "1",
		"--method", "spearman", file)
	f("(0,1) 1\n(0,2) NaN\n(1,2) NaN\n", "of 4 rows", "", 0, "--skip", "c", file)
	f("i,j,x,y,r,lag,overlap\n0,1,a,b,1,0,4\n", "", "", 0, "--format", "csv", "--top", "1", file)
	f("", "line 4, column 5 (c)", "", 1, "--bad", "error", file)
	f("(0,1) 1 1\n", "", "1;9\n2;1\n4;2\n3;4\n7;3\n", 0, "--lag", "1", "--min-overlap", "4", "--delimiter", ";",
		"--no-header", "-")
	f("", "there is no column", "", 1, "--skip", "nope", file)
	f("", "--method", "", 1, "--method", "kendall", file)
	f("", "--format", "", 1, "--format", "xml", file)
	f("", "--min-abs", "", 1, "--min-abs", "NaN", file)
	f("", "no such file", "", 1, file+"x")
	heat, scatter := filepath.Join(dir, "heat.png"), filepath.Join(dir, "scatter.svg")
	f(strong, "", "", 0, "--top", "1", "--heat-map", heat, "--scatter", scatter, "--scatter-columns", "a,b", file)
	for _, name := range []string{heat, scatter} {
		if info, err := os.Stat(name); err != nil || info.Size() == 0 {
			t.Errorf("%s is not drawn: %v", name, err)
		}
	}
	f("", "--heat-map", "", 1, "--heat-map", "x.gif", file)
	f("", "--scatter-columns", "", 1, "--scatter", scatter, "--scatter-columns", "a,host", file)
	f("", "of memory", "", 1, "--memory", "1kB", file)
}

// A file of many times the memory is read in bands, and gives what more memory gives; from standard input that cannot
// be.
func TestCorrelateInBands(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	const columns = 200
	for j := range columns {
		fmt.Fprintf(&text, "c%d,", j)
	}
	text.WriteString("end\n")
	for range 2500 {
		for range columns {
			if random.IntN(50) == 0 {
				text.WriteByte(',')
			} else {
				fmt.Fprintf(&text, "%d,", random.IntN(100))
			}
		}
		text.WriteString("1\n")
	}
	file := filepath.Join(t.TempDir(), "wide.csv")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	want, _, status := run(t, "", "correlate", file)
	if status != 0 || strings.Count(want, "\n") != (columns+1)*columns/2 {
		t.Fatalf("status %d, %d pairs", status, strings.Count(want, "\n"))
	}
	got, stderr, status := run(t, "", "correlate", "--memory", "7500kB", file)
	if status != 0 || got != want || strings.Contains(stderr, "in 1 passes") {
		t.Errorf("status %d, other pairs %v: %s", status, got != want, stderr)
	}
	if _, stderr, status = run(t, text.String(), "correlate", "--memory", "7500kB", "-"); status != 1 ||
		!strings.Contains(stderr, "cannot be read twice") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// A file imported gives, over the API, the pairs of the file.
func TestCorrelateStoredMetrics(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, "--data", filepath.Join(dir, "data"))
	s.call(http.MethodPost, "/v1/archive_policy", secondsPolicy, http.StatusCreated, nil)
	random := rand.New(rand.NewPCG(3, 4))
	text := "time,a,b,c,d,e\n"
	for second := range 500 {
		signal := random.NormFloat64()
		text += fmt.Sprintf("2026-01-01T00:%02d:%02dZ,%.3f,%.3f,%.3f,7,", second/60, second%60, signal,
			signal+random.NormFloat64(), -1e6+signal+0.1*random.NormFloat64())
		if random.IntN(5) > 0 {
			text += fmt.Sprint(second)
		}
		text += "\n"
	}
	file := filepath.Join(dir, "wide.csv")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, status := run(t, "", "import", "csv", "--url", s.url, "--archive-policy", "seconds", "--resource",
		"r", file); status != 0 {
		t.Fatal(stderr)
	}
	var resource struct{ Metrics map[string]string }
	s.call(http.MethodGet, "/v1/resource/generic/r", "", http.StatusOK, &resource)
	s.measures("/v1/resource/generic/r/metric/e/measures?refresh=true&aggregation=sum")

	type pair struct {
		X, Y    string
		R       *float64
		Overlap int
	}
	read := func(args ...string) map[[2]string]pair {
		t.Helper()
		stdout, stderr, status := run(t, "", append([]string{"correlate", "--format", "jsonl"}, args...)...)
		if status != 0 {
			t.Fatalf("%q: status %d: %s", args, status, stderr)
		}
		found := map[[2]string]pair{}
		for line := range strings.Lines(stdout) {
			var p pair
			if err := json.Unmarshal([]byte(line), &p); err != nil {
				t.Fatal(err)
			}
			if p.R != nil {
				found[[2]string{min(p.X, p.Y), max(p.X, p.Y)}] = p
			}
		}
		return found
	}
	wanted := read(file)
	got := read("--url", s.url, "--search", "original_resource_id = 'r'", "--aggregation", "sum")
	if len(wanted) != 6 || len(got) != len(wanted) {
		t.Fatalf("%d pairs of the file, %d of the metrics", len(wanted), len(got))
	}
	for names, want := range wanted {
		x, y := resource.Metrics[names[0]], resource.Metrics[names[1]]
		p := got[[2]string{min(x, y), max(x, y)}]
		if p.R == nil || math.Abs(*p.R-*want.R) > 1e-12 || p.Overlap != want.Overlap {
			t.Errorf("%v: %+v, want %+v", names, p, want)
		}
	}
	stdout, stderr, status := run(t, "", "correlate", "--url", s.url, "--aggregation", "sum", "--metric",
		resource.Metrics["a"], "--metric", resource.Metrics["c"], "--lag", "2")
	if status != 0 || !strings.HasPrefix(stdout, "("+min(resource.Metrics["a"], resource.Metrics["c"])+",") ||
		!strings.HasSuffix(stdout, " 0\n") {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
	if _, stderr, status = run(t, "", "correlate", "--url", s.url, "--aggregation", "nope"); status != 1 ||
		!strings.Contains(stderr, "aggregation") {
		t.Errorf("status %d: %s", status, stderr)
	}
	if _, _, status = run(t, "", "correlate", "--url", s.url, file); status != 1 {
		t.Errorf("status %d", status)
	}
}
