package main_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// The archives of two servers are equal if one has imported the other's export.
func TestExportAndImport(t *testing.T) {
	withoutCredentials(t)
	random := rand.New(rand.NewPCG(1, 2))
	first := serve(t, "--data", filepath.Join(t.TempDir(), "data"))
	first.call(http.MethodPost, "/v1/archive_policy", secondsPolicy, http.StatusCreated, nil)
	rows := "time,cpu,\"a \"\"b\"\", c\"\n"
	for i := range 900 {
		rows += fmt.Sprintf("%d.25,%v,%v\n", 1767225600+i+i/100*7, random.NormFloat64()*1e9, random.ExpFloat64())
	}
	sent := func(s *served, stdin string, args ...string) {
		t.Helper()
		if _, stderr, status := run(t, stdin, append(append([]string{"import", "csv", "--url", s.url,
			"--archive-policy", "seconds"}, args...), "-")...); status != 0 {
			t.Fatalf("import: %s", stderr)
		}
	}
	sent(first, rows, "--resource", "cellar")
	export := func(s *served, args ...string) string {
		t.Helper()
		stdout, stderr, status := run(t, "", append([]string{"export", "--url", s.url}, args...)...)
		if status != 0 {
			t.Fatalf("export %q: %s", args, stderr)
		}
		return stdout
	}
	all := export(first, "csv", "--aggregation", "sum")
	if n := strings.Count(all, "\n"); n != 1801 || !strings.HasPrefix(all, "timestamp,resource,metric,value\n"+
		`2026-01-01T00:00:00+00:00,cellar,"a ""b"", c",`) {
		t.Errorf("%d lines of CSV begin with %.200s", n, all)
	}
	second := serve(t, "--data", filepath.Join(t.TempDir(), "data"))
	second.call(http.MethodPost, "/v1/archive_policy", secondsPolicy, http.StatusCreated, nil)
	sent(second, all, "--nan", "--metric-column", "metric", "--resource-column", "resource")
	if again := export(second, "csv", "--aggregation", "sum"); again != all {
		t.Errorf("after an export and an import %d bytes of CSV are %d others", len(all), len(again))
	}

	part := []string{"--start", "2026-01-01T00:00:10", "--stop", "2026-01-01T00:00:12", "--aggregation", "count"}
	f := func(want string, args ...string) {
		t.Helper()
		if got := export(first, append(args, part...)...); got != want {
			t.Errorf("export %q:\n%s", args, got)
		}
	}
	f("timestamp,resource,metric,value\n2026-01-01T00:00:10+00:00,cellar,cpu,1\n"+
		"2026-01-01T00:00:11+00:00,cellar,cpu,1\n", "csv", "cellar/cpu")
	const labels = `"__name__":"cpu"`
	if got := export(first, append([]string{"jsonl", "cpu"}, part...)...); !strings.Contains(got, labels) ||
		!strings.HasSuffix(got, `"values":[1,1],"timestamps":[1767225610000,1767225611000]}`+"\n") {
		t.Errorf("JSON lines: %s", got)
	}
	if got := export(first, append([]string{"prometheus", `{__name__="cpu"}`}, part...)...); !strings.HasPrefix(got,
		`cpu{`) || !strings.HasSuffix(got, "} 1 1767225611000\n") {
		t.Errorf("Prometheus' text: %s", got)
	}
	for args, want := range map[string]string{
		"csv nothing":                 "no metric is nothing",
		"xml":                         `format "xml" is none of`,
		"csv cpu --aggregation 50pct": "404 Not Found",
		"csv {":                       "parse error",
	} {
		_, stderr, status := run(t, "", append([]string{"export", "--url", first.url}, strings.Fields(args)...)...)
		if status != 1 || !strings.Contains(stderr, want) {
			t.Errorf("export %s: status %d, %s", args, status, stderr)
		}
	}
}
