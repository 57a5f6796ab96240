package main_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const exportHeader = "timestamp,resource,metric,unit,archive_policy,value\n"

// Metrics of resources, with units, and series with labels, each of its archive policy, go from one server to another
// by files, and not a bit differs.
func TestExportsOfEveryKind(t *testing.T) {
	t.Parallel()
	withoutCredentials(t)
	policies := []string{secondsPolicy, `{"name":"fine","definition":[{"granularity":"0.00025s"},{"granularity":"1h"}],
		"aggregation_methods":["last","count"]}`}
	server := func() *served {
		s := serve(t, "--data", filepath.Join(t.TempDir(), "data"))
		for _, policy := range policies {
			s.call(http.MethodPost, "/v1/archive_policy", policy, http.StatusCreated, nil)
		}
		return s
	}
	command := func(s *served, stdin string, args ...string) string {
		t.Helper()
		stdout, stderr, status := run(t, stdin, append(args, "--url", s.url)...)
		if status != 0 {
			t.Fatalf("%q: status %d, %s", args, status, stderr)
		}
		return stdout
	}
	random := rand.New(rand.NewPCG(3, 4))
	rows := "time,v,host,quote\n"
	for i := range 300 {
		rows += fmt.Sprintf("%d.%06d,%v,%s,\"a \"\"b\"\"\\, c\"\n", 1767225600+i, 250*(i%4000), random.NormFloat64()*1e-9,
			[]string{"", "ä=1"}[i%2])
	}
	first := server()
	first.call(http.MethodPost, "/v1/resource/generic", `{"id":"cellar_x","metrics":{"power":{"archive_policy_name":
		"fine","unit":"kW"}}}`, http.StatusCreated, nil)
	command(first, rows, "import", "csv", "-", "--resource", "cellar_x", "--metric", "power", "--archive-policy", "fine",
		"--ignore", "host", "--ignore", "quote")
	command(first, rows, "import", "csv", "-", "--label-column", "host", "--label-column", "quote", "--metric", "a/b",
		"--archive-policy", "seconds")
	command(first, "time,n\n1767225600,NaN\n1767225601,-Inf\n1767225602,5e-324\n", "import", "csv", "-", "--nan",
		"--archive-policy", "seconds", "--resource", "ends")
	want := command(first, "", "export", "csv")
	if n := strings.Count(want, "\n"); n != 604 {
		t.Fatalf("%d lines:\n%.500s", n, want)
	}
	for _, form := range []string{"csv", "jsonl"} {
		second := server()
		command(second, command(first, "", "export", form), "import", form, "-")
		if got := command(second, "", "export", "csv"); got != want {
			t.Errorf("by %s, %d bytes of CSV are %d others:\n%.900s\n%.900s", form, len(want), len(got), want, got)
		}
		// Another import finds all metrics, and changes nothing.
		command(second, command(first, "", "export", form), "import", form, "-")
		if got := command(second, "", "export", "csv"); got != want {
			t.Errorf("by %s twice, the export differs", form)
		}
	}
	// A failed import leaves nothing behind.
	line := func(name, policy string) string {
		return fmt.Sprintf(`{"metric":{"__name__":%q},"values":[1],"timestamps":[1],"gnocco":{"archive_policy":%q}}`+"\n", name,
			policy)
	}
	if _, stderr, status := run(t, line("gone1", "fine")+line("gone2", "fine")+line("b", "none"), "import", "jsonl", "--url",
		first.url, "--requests", "1", "-"); status != 1 || !strings.Contains(stderr, "Archive policy none does not exist") {
		t.Errorf("an unknown archive policy: status %d, %s", status, stderr)
	}
	if all := command(first, "", "list", "metrics"); strings.Contains(all, "gone") {
		t.Errorf("a failed import left\n%s", all)
	}
	if all := command(first, "", "export", "csv", "cellar_x/power", "--granularity", "all"); !strings.HasPrefix(all,
		"timestamp,resource,metric,unit,archive_policy,granularity,value\n") || strings.Count(all, ",fine,3600,") != 1 ||
		strings.Count(all, ",fine,0.00025,") != 300 {
		t.Errorf("all granularities: %.300s", all)
	}
}

// The archives of two servers are equal if one has imported the other's export.
func TestExportAndImport(t *testing.T) {
	t.Parallel()
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
	if n := strings.Count(all, "\n"); n != 1801 || !strings.HasPrefix(all, exportHeader+
		`2026-01-01T00:00:00+00:00,cellar,"a ""b"", c",,seconds,`) {
		t.Errorf("%d lines of CSV begin with %.200s", n, all)
	}
	second := serve(t, "--data", filepath.Join(t.TempDir(), "data"))
	second.call(http.MethodPost, "/v1/archive_policy", secondsPolicy, http.StatusCreated, nil)
	sent(second, all)
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
	f(exportHeader+"2026-01-01T00:00:10+00:00,cellar,cpu,,seconds,1\n"+
		"2026-01-01T00:00:11+00:00,cellar,cpu,,seconds,1\n", "csv", "cellar/cpu")
	f("2026-01-01T00:00:10+00:00,cellar,cpu,,seconds,1\n"+
		"2026-01-01T00:00:11+00:00,cellar,cpu,,seconds,1\n", "csv", "--from", "cellar/b")
	f("", "csv", "--from", "cellar/d")
	const labels = `"__name__":"cpu"`
	if got := export(first, append([]string{"jsonl", "cpu"}, part...)...); !strings.Contains(got, labels) ||
		!strings.HasSuffix(got, `"values":[1,1],"timestamps":[1767225610000,1767225611000],"gnocco":`+
			`{"resource":"cellar","name":"cpu","archive_policy":"seconds","granularity":1}}`+"\n") {
		t.Errorf("JSON lines: %s", got)
	}
	got := export(first, append([]string{"prometheus", `{__name__="cpu"}`}, part...)...)
	if !strings.HasPrefix(got, `cpu{`) || !strings.HasSuffix(got, "} 1 1767225611000\n") ||
		!regexp.MustCompile(`[{,]resource_id="[0-9a-f-]{36}"[,}]`).MatchString(got) {
		t.Errorf("Prometheus' text: %s", got)
	}
	for args, want := range map[string]string{
		"csv nothing":                 "no metric is nothing",
		"xml":                         `format "xml" is none of`,
		"csv cpu --aggregation 50pct": "no 50pct of 1s: archive policy seconds keeps sum, count of 1s",
		"csv {":                       "parse error",
	} {
		_, stderr, status := run(t, "", append([]string{"export", "--url", first.url}, strings.Fields(args)...)...)
		if status != 1 || !strings.Contains(stderr, want) {
			t.Errorf("export %s: status %d, %s", args, status, stderr)
		}
	}
}
