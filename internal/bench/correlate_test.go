package bench_test

import (
	"bytes"
	"strings"
	"testing"

	"gnocco/internal/bench"
)

func TestCorrelate(t *testing.T) {
	var out bytes.Buffer
	err := bench.Correlate(t.Context(), bench.Options{Report: bench.NewReport(&out)}, bench.CorrelateOptions{Columns: 30, Rows: 500, CSVBytes: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"BenchmarkCorrelate/engine=gnocco-", "BenchmarkParseCSV/reader=gnocco ", "BenchmarkParseCSV/reader=encoding-csv "} {
		if !strings.Contains(out.String(), name) {
			t.Errorf("no %s in\n%s", name, out.String())
		}
	}
	if err := bench.Correlate(t.Context(), bench.Options{Report: bench.NewReport(&out)}, bench.CorrelateOptions{}); err == nil {
		t.Error("nothing to correlate is no error")
	}
}
