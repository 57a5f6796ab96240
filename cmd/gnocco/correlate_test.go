package main_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/tests/correlatetest"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

func TestCorrelateNamesTheProgramForFiles(t *testing.T) {
	for _, args := range [][]string{{"x.csv"}, {"-"}, {}, {"--url", "http://127.0.0.1:1", "x.csv"}} {
		_, stderr, status := run(t, "", append([]string{"correlate"}, args...)...)
		if status != 1 || !strings.Contains(stderr, "gnocco-correlate, a program of its own") {
			t.Errorf("%q: status %d: %s", args, status, stderr)
		}
	}
}

// A file imported gives, over the API, the pairs of its columns.
func TestCorrelateStoredMetrics(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, "--data", filepath.Join(dir, "data"))
	s.call(http.MethodPost, "/v1/archive_policy", secondsPolicy, http.StatusCreated, nil)
	random := rand.New(rand.NewPCG(3, 4))
	names := []string{"a", "b", "c", "d", "e"}
	columns := make([][]float64, len(names))
	text := "time," + strings.Join(names, ",") + "\n"
	for second := range 500 {
		signal := random.NormFloat64()
		cells := []string{fmt.Sprintf("%.3f", signal), fmt.Sprintf("%.3f", signal+random.NormFloat64()),
			fmt.Sprintf("%.3f", -1e6+signal+0.1*random.NormFloat64()), "7", ""}
		if random.IntN(5) > 0 {
			cells[4] = fmt.Sprint(second)
		}
		for j, cell := range cells {
			value, err := strconv.ParseFloat(cell, 64)
			if err != nil {
				value = math.NaN()
			}
			columns[j] = append(columns[j], value)
		}
		text += fmt.Sprintf("2026-01-01T00:%02d:%02dZ,%s\n", second/60, second%60, strings.Join(cells, ","))
	}
	file := filepath.Join(dir, "wide.csv")
	fatal.If(t, os.WriteFile(file, []byte(text), 0o600))
	if _, stderr, status := run(t, "", "import", "csv", "--url", s.url, "--archive-policy", "seconds", "--resource",
		"r", file); status != 0 {
		t.Fatal(stderr)
	}
	var resource struct{ Metrics map[string]string }
	s.call(http.MethodGet, "/v1/resource/generic/r", "", http.StatusOK, &resource)
	s.measures("/v1/resource/generic/r/metric/e/measures?refresh=true&aggregation=sum")
	// e only rises: unless its type says otherwise it counts as a counter, and is correlated by its increases.
	s.call(http.MethodPatch, "/v1/metric/"+resource.Metrics["e"], `{"type": "gauge"}`, http.StatusOK, nil)

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
			fatal.If(t, json.Unmarshal([]byte(line), &p))
			if p.R != nil {
				found[[2]string{min(p.X, p.Y), max(p.X, p.Y)}] = p
			}
		}
		return found
	}
	got := read("--url", s.url, "--search", "original_resource_id = 'r'", "--aggregation", "sum")
	pairs := 0
	for j := range names {
		for i := range j {
			r, overlap := correlatetest.Reference(columns[i], columns[j], 0)
			if math.IsNaN(r) { // d is constant
				continue
			}
			pairs++
			x, y := resource.Metrics[names[i]], resource.Metrics[names[j]]
			p := got[[2]string{min(x, y), max(x, y)}]
			if p.R == nil || math.Abs(*p.R-r) > 1e-12 || int64(p.Overlap) != overlap {
				t.Errorf("%s and %s: %+v, want %v of %d", names[i], names[j], p, r, overlap)
			}
		}
	}
	if pairs != 6 || len(got) != pairs {
		t.Errorf("%d pairs of the metrics, want %d", len(got), pairs)
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
}
