package main_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// An imported series is the one that a sender pushes: with its labels, archive policy and type, on a new server.
func TestImportedSeriesArePushedSeries(t *testing.T) {
	t.Parallel()
	withoutCredentials(t)
	const at = blocksFrom / 1000
	samples := func(step float64) (all []blockSample) {
		for i := range 60 {
			all = append(all, blockSample{blocksFrom + int64(i)*15_000, step * float64(i)})
		}
		return all
	}
	all := map[string][]blockSample{"reqs_total": samples(7), "took_bucket": samples(1), "temp": samples(-0.5)}
	dir := t.TempDir()
	writeBlock(t, filepath.Join(dir, "block"), all, blocksFrom, blocksFrom+hourMS, 0)
	var lines, rows strings.Builder
	rows.WriteString("time,name,job,replica,value\n")
	for name, list := range all {
		var times, values []string
		for _, s := range list {
			times, values = append(times, fmt.Sprint(s.ms)), append(values, fmt.Sprint(s.v))
			fmt.Fprintf(&rows, "%d,%s,a,r,%v\n", s.ms/1000, name, s.v)
		}
		fmt.Fprintf(&lines, `{"metric":{"__name__":%q,"job":"a","replica":"r"},"values":[%s],"timestamps":[%s]}`+"\n", name,
			strings.Join(values, ","), strings.Join(times, ","))
	}
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		fatal.If(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	csv, jsonl := file("all.csv", rows.String()), file("all.jsonl", lines.String())
	var exported map[string]string // by form
	check := func(s *served, about string) {
		t.Helper()
		// A sender goes on in the same series.
		for name := range all {
			s.call(http.MethodPost, "/api/v1/import/prometheus", fmt.Sprintf("%s{job=\"a\",replica=\"r\"} 1000 %d\n", name,
				blocksFrom+60*15_000), http.StatusNoContent, nil)
		}
		var found []struct {
			Labels map[string]string
			Policy struct{ Name string } `json:"archive_policy"`
		}
		s.call(http.MethodGet, "/v1/metric", "", http.StatusOK, &found)
		if len(found) != len(all) {
			t.Errorf("%s: %d metrics", about, len(found))
		}
		want := map[string]string{"reqs_total": "prometheus-counter", "took_bucket": "prometheus-counter", "temp": "prometheus"}
		for _, m := range found {
			if name := m.Labels["__name__"]; m.Policy.Name != want[name] || len(m.Labels) != 3 {
				t.Errorf("%s: %v has archive policy %s", about, m.Labels, m.Policy.Name)
			}
		}
		for query, want := range map[string]string{
			"resets(reqs_total[15m])":    "0",
			"count_over_time(temp[15m])": "60",
		} {
			var answer struct {
				Data struct{ Result []struct{ Value [2]any } }
			}
			s.call(http.MethodGet, fmt.Sprintf("/api/v1/query?query=%s&time=%d", url.QueryEscape(query), at+59*15), "",
				http.StatusOK, &answer)
			if list := answer.Data.Result; len(list) != 1 || list[0].Value[1] != want {
				t.Errorf("%s: %s is %v, want %s", about, query, list, want)
			}
		}
	}
	for about, args := range map[string][]string{
		"blocks":                {"blocks", filepath.Join(dir, "block")},
		"blocks and the policy": {"blocks", "--archive-policy", "prometheus", filepath.Join(dir, "block")},
		"jsonl":                 {"jsonl", jsonl},
		"csv":                   {"csv", "--metric-column", "name", "--label-column", "job", "--label-column", "replica", csv},
	} {
		s := serve(t, "--data", filepath.Join(t.TempDir(), "data"))
		dry := append([]string{"import", args[0], "--dry-run", "--url", s.url}, args[1:]...)
		for _, command := range [][]string{dry, append([]string{"import", args[0], "--url", s.url}, args[1:]...)} {
			_, stderr, status := run(t, "", command...)
			if status != 0 || !strings.Contains(stderr, "archive policy prometheus keeps each of 60 measures of 1 metric") ||
				!strings.Contains(stderr, "archive policy prometheus-counter keeps each of 120 measures of 2 metrics") {
				t.Errorf("%q: status %d, %s", command, status, stderr)
			}
		}
		check(s, about)
		if exported == nil {
			exported = make(map[string]string)
			for _, form := range []string{"csv", "jsonl"} {
				text, stderr, status := run(t, "", "export", form, "--url", s.url, "--aggregation", "last")
				if status != 0 {
					t.Fatalf("export %s: %s", form, stderr)
				}
				exported[form] = text
			}
		}
	}
	for form, text := range exported {
		s := serve(t, "--data", filepath.Join(t.TempDir(), "data"))
		if _, stderr, status := run(t, text, "import", form, "--url", s.url, "-"); status != 0 {
			t.Errorf("export %s and import: status %d, %s", form, status, stderr)
		}
		check(s, "an exported "+form)
	}
}
