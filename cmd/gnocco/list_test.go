package main_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// asker returns a function that runs a command against a server, and requires a status and parts of the output.
func asker(t *testing.T, url string) func(status int, want, wantErr string, args ...string) {
	return func(status int, want, wantErr string, args ...string) {
		t.Helper()
		stdout, stderr, got := run(t, "", append(args, "--url", url)...)
		if got != status || !strings.Contains(stdout, want) || !strings.Contains(stderr, wantErr) {
			t.Errorf("%q: status %d, %s%s", args, got, stdout, stderr)
		}
	}
}

func TestCommandsThatAsk(t *testing.T) {
	withoutCredentials(t)
	s := serve(t, "--data", filepath.Join(t.TempDir(), "data"))
	s.call(http.MethodPost, "/v1/archive_policy", secondsPolicy, http.StatusCreated, nil)
	if _, stderr, status := run(t, "time,in,out\n2026-01-01T00:00:00,1,5\n2026-01-01T00:00:07,2.5,5\n"+
		"2026-01-01T00:00:15,8,5\n", "import", "csv", "--url", s.url, "--archive-policy", "seconds",
		"--resource", "house", "-"); status != 0 {
		t.Fatal(stderr)
	}
	s.call(http.MethodPost, "/v1/metric", `{"name":"later","archive_policy_name":"seconds"}`, http.StatusCreated, nil)
	s.call(http.MethodPost, "/v1/resource/generic", `{"id":"cellar","metrics":{"cold":{"archive_policy_name":"seconds"}}}`,
		http.StatusCreated, nil)
	f := asker(t, s.url)
	f(0, "house/in     seconds  ", "", "list", "metrics")
	f(0, `"metric": "house/out",`, "", "list", "metrics", "house/out", "-o", "json")
	f(0, "house,,generic,2,", "", "list", "resources", "-o", "csv")
	f(0, "house,,generic,2,", "", "list", "resources", "HOUS", "-o", "csv")
	f(0, "house,,generic,2,", "", "list", "resources", "type=generic", "cellar", "-o", "csv")
	f(1, "", "no resource is attic (gnocco list", "list", "resources", "house", "attic")
	f(0, "seconds  1s for 1000s", "", "list", "policies")
	f(0, "generic", "", "list", "types")
	f(0, "default,*,", "", "list", "rules", "-o", "csv")
	f(1, "", "none of backups, costs, jobs, ledger, metrics", "list", "metric")
	f(1, "", "no metric is attic (gnocco list", "list", "metrics", "attic")
	f(0, "cellar/cold", "", "list", "metrics", "ELLA")
	f(0, "house/out", "", "show", "hous", "--start", "2025-12-01")
	f(1, "", "no metric is house/ine (did you mean house/in?)", "show", "house/ine")
	costly := "count_over_time(vector(1)[1d:1s])" // top shows the ten that cost most
	f(0, "86400", "", "query", costly)
	f(0, "/api/v1/query "+costly, "", "top", "--count", "1")
	f(1, "", "gnocco: unknown flag: --limits", "list", "metrics", "--limits")
	f(1, "", "gnocco: usage: gnocco list KIND [SELECTOR...] [flags] (gnocco list --help explains it)", "list")
	f(1, "", "cannot be selected", "list", "rules", "a")
	f(1, "", "none of table, json, yaml and csv", "list", "rules", "-o", "xml")
	f(0, "- resource: house\n  name: \"\"\n  type: generic\n  metrics: 2\n  started: \"", "", "list", "resources", "-o", "yaml")

	f(0, "house/in,sum,3,2026-01-01T00:00:00+00:00,2026-01-01T00:00:15+00:00,1,3.8333333333333335,8,8,"+
		"▁▁▁▁▁▁▁▁▁▁▁▁▁▁▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂█", "", "show", "house/in", "--start", "2025-12-01", "-o", "csv")
	f(0, "house/out,sum,3,2026-01-01T00:00:00+00:00,2026-01-01T00:00:15+00:00,5,5,5,5,"+
		"▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁", "", "show", "out", "--start", "2025-12-01", "-o", "csv")
	f(0, "house/in,sum,0,,,,,,,", "", "show", "house/in", "--start", "2026-02-01", "-o", "csv")

	f(0, "house/in,sum,0,,,,,,,", "", "show", "house/in", "--since", "1d", "-o", "csv")
	f(0, "admin,4,any,", "", "quotas", "-o", "csv")
	f(0, "web      0       10            0           any             0           7\n", "", "quotas", "web", "--series", "10",
		"--measures", "-1", "--requests", "7")
	f(0, "project: web\n  series: 0\n  series_quota: \"10\"", "", "quotas", "-o", "yaml")
	f(0, "web,0,10,0,any,", "", "quotas", "-o", "csv", "--user", "web")
	f(1, "", "name the project to change", "quotas", "--reset")
	f(1, "", "leave out the bounds", "quotas", "web", "--reset", "--series", "1")
	f(0, "", "", "quotas", "web", "--reset")
	f(1, "", "web", "quotas", "web")
	f(0, "JOB  STATE  PROGRESS  SUBJECT  ID\n", "", "list", "jobs")
	f(1, "", "Query 5f does not run", "top", "--kill", "5f")
	f(0, "SECONDS  COUNT", "", "list", "costs")
	f(0, "low      5m for 30d ", "", "list", "policies")
	f(0, "\nadmin    ", "", "list", "projects")
	f(0, "house/in   sum", "", "show", "house", "--start", "2025-12-01")
	f(0, "metric,policy,id\nlater,", "", "list", "unread", "-o", "csv")
	f(0, "\ncellar/cold,seconds,", "", "list", "unread", "-o", "csv")
	f(1, "", "--every must be at least 100ms", "top", "--every", "1ms")
	complete := func(want string, args ...string) {
		t.Helper()
		stdout, _, _ := run(t, "", append([]string{"__complete"}, args...)...)
		if got, _, _ := strings.Cut(stdout, ":"); got != want {
			t.Errorf("completion of %q: %q", args, got)
		}
	}
	t.Setenv("GNOCCO_URL", s.url)
	complete("house/in\nhouse/out\n", "show", "house/")
	complete("house/out\n", "export", "csv", "house/o")
	complete("csv\njsonl\nprometheus\narchive\n", "export", "")
	complete("house/in\nhouse/out\n", "list", "metrics", "house")
	complete("out\n", "delete", "o")
	complete("seconds\n", "import", "csv", "--archive-policy", "sec")
	complete("sum\n", "show", "--aggregation", "su")

	f(0, ",2026-01-01T00:00:00Z,2", "", "query", "1 + vector(1)", "--time", "2026-01-01", "-o", "csv")
	f(0, `"value": "NaN"`, "", "query", "0 / vector(0)", "-o", "json")
	f(0, "2026-01-01T00:00:00Z  3\n", "", "query", "3", "--time", "2026-01-01")
	f(0, "2026-01-01T00:00:00Z  0.333\n", "", "query", "1 / 3", "--time", "2026")
	f(0, "2026-01-01T00:00:00Z  1767225600\n", "", "query", "time()", "--time", "2026")
	f(0, "", "no series has a value there", "query", "nothing", "--time", "2026")
	f(0, "{},2026-01-01T00:00:00Z,0\n{},2026-01-01T00:01:00Z,60\n", "", "query", "time() - vector(1767225600)",
		"--start", "2026-01-01", "--stop", "2026-01-01T00:01:00", "-o", "csv")
	f(0, "{},8,2026-01-01T00:00:00Z,2026-01-01T00:07:00Z,0,210,420,420,▁▁▁▁▂▂▂▂▂▃▃▃▃▄▄▄▄▄▅▅▅▅▆▆▆▆▆▇▇▇▇█", "", "query",
		"time() - vector(1767225600)", "--start", "2026-01-01", "--stop", "2026-01-01T00:07", "--chart", "-o", "csv")
	f(1, "", "--chart: give --start as well", "query", "1", "--chart")
	f(1, "", "parse error", "query", "sum(")

	f(0, "", "measures of 1 metric would be deleted: repeat with --yes; groups 1 -> 0", "delete", "house/in",
		"--start", "2026-01-01T00:00:05", "--stop", "2026-01-01T00:00:10")
	f(0, "", "measures of 1 metric are deleted; groups 1 -> 0", "delete", "house/in",
		"--start", "2026-01-01T00:00:05", "--stop", "2026-01-01T00:00:10", "--reason", "spike", "--yes")
	f(0, "house/in,sum,2,2026-01-01T00:00:00+00:00,2026-01-01T00:00:15+00:00,1,4.5,8,8,", "", "show", "house/in",
		"--start", "2025-12-01", "-o", "csv")
	f(0, ",admin,deletion,2026-01-01T00:00:05+00:00,2026-01-01T00:00:10+00:00,1,1,0,done,spike,metrics ", "", "list",
		"ledger", "-o", "csv")
	f(1, "", "stop must be later than start", "delete", "house/in", "--start", "2", "--stop", "1")

	f(0, "house/in", "1 metric would be deleted: repeat with --yes", "delete", "house/in")
	f(0, "house/in", "1 metric deleted", "delete", "house/in", "--yes")
	f(1, "", "no metric is house/in", "delete", "house/in")
	f(0, "house/out", "", "list", "metrics")
	f(0, "api, metricd", "damaged: 0 stores", "status")

	_, stderr, status := run(t, "", "list", "metrics", "--url", "127.0.0.1:1")
	if status != 1 || !strings.Contains(stderr, "write http://127.0.0.1:1") {
		t.Errorf("without a scheme: %s", stderr)
	}
	_, stderr, status = run(t, "", "list", "metrics", "--url", "http://127.0.0.1:1")
	if status != 1 || !strings.Contains(stderr, "is a server running there? gnocco serve starts one") {
		t.Errorf("without a server: %s", stderr)
	}
}

// A process without workers begins a rebuild and goes no further.
func TestListJobs(t *testing.T) {
	withoutCredentials(t)
	s := serveAs(t, "api", "--data", filepath.Join(t.TempDir(), "data"))
	s.call(http.MethodPost, "/v1/archive_policy", secondsPolicy, http.StatusCreated, nil)
	s.call(http.MethodPost, "/v1/resource/generic", `{"id":"house","metrics":{"in":{"archive_policy_name":"seconds"}}}`,
		http.StatusCreated, nil)
	var found []struct{ ID string }
	s.call(http.MethodGet, "/v1/metric", "", http.StatusOK, &found)
	s.call(http.MethodPost, "/v1/rebuild", `{"metric_id":"`+found[0].ID+`"}`, http.StatusAccepted, nil)
	stdout, stderr, _ := run(t, "", "list", "jobs", "-o", "csv", "--url", s.url)
	const want = "job,state,progress,subject,id\nrebuild,running,0 of 0 metrics,metric house/in,"
	if !strings.HasPrefix(stdout, want) {
		t.Errorf("%s%s", stdout, stderr)
	}
	stdout, stderr, _ = run(t, "", "list", "jobs", "-o", "csv", "--url", s.url, "--user", "web")
	if stdout != "job,state,progress,subject,id\n" {
		t.Errorf("%s%s", stdout, stderr)
	}
}

// Commands find any name that a list shows. They name words and times that they cannot read, and refuse flags without
// effect.
func TestWordsOfCommands(t *testing.T) {
	withoutCredentials(t)
	s := serve(t, "--data", filepath.Join(t.TempDir(), "data"))
	s.call(http.MethodPost, "/v1/resource/generic", `{"id":"house","metrics":{"in":{"archive_policy_name":"low"}}}`,
		http.StatusCreated, nil)
	f := asker(t, s.url)
	f(1, "", "no metric is inn (did you mean in?)", "show", "inn")
	f(1, "", "no metric is "+strings.Repeat("x", 1000)+" (gnocco list", "show", strings.Repeat("x", 1000))
	f(1, "", `no metric is "" (gnocco list`, "show", "")
	s.call(http.MethodPost, "/v1/resource/generic", `{"id":"odd","metrics":{"a{b=\"c\"}":{"archive_policy_name":"low"}}}`,
		http.StatusCreated, nil)
	f(0, `odd/a{b="c"}`, "", "list", "metrics", `odd/a{b="c"}`) // what a list shows
	f(0, `odd/a{b="c"}`, "", "show", `a{b="c"}`)
	f(1, "", "parse error: unexpected end of input inside braces", "show", "a{")

	f(1, "", `"soon" for "--start" flag: write 2026-11-30T08:20`, "show", "house/in", "--start", "soon")
	f(1, "", `"soon" for "--stop" flag: write 2026-11-30T08:20`, "export", "csv", "--stop", "soon")
	f(1, "", `"soon" for "--time" flag: write 2026-11-30T08:20`, "query", "1", "--time", "soon")
	for _, help := range []struct{ word, want string }{{"nope", ""}, {"show", "gnocco show"}, {"limits", "Bounds"},
		{"serve", "gnocco serve"}} {
		stdout, stderr, status := run(t, "", "help", help.word)
		if (status == 0) != (help.want != "") || !strings.Contains(stdout, help.want) ||
			strings.Contains(stderr, "unknown command") != (help.want == "") {
			t.Errorf("help %s: status %d, %s%s", help.word, status, stdout, stderr)
		}
	}
	f(1, "", `"x" for "--since" flag: write 90s`, "show", "house/in", "--since", "x")
	f(0, "house/in,mean,0,", "", "show", "house/in", "--start", "now-1h", "-o", "csv")
	f(0, "house/in,mean,0,", "", "show", "house/in", "--start", "yesterday", "-o", "csv")
	f(1, "", "[since start] were all set", "show", "house/in", "--since", "1d", "--start", "2025")
	f(1, "", "[since start] were all set", "export", "csv", "--since", "1d", "--start", "2025")
	f(1, "", "--stop: give --start as well", "query", "1", "--stop", "now")
	f(1, "", "is there, and no regular file", "export", "csv", "--to", t.TempDir())
	link := filepath.Join(t.TempDir(), "link")
	fatal.If(t, os.Symlink("/dev/null", link))
	f(1, "", "is there, and no regular file", "export", "csv", "--to", link)
	f(1, "", "--step: give --start as well", "query", "1", "--step", "1s")
}
