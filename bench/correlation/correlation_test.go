package correlation_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/bench/correlation"
	"github.com/gnocco-db/gnocco/bench/report"
)

func TestCorrelate(t *testing.T) {
	var out bytes.Buffer
	err := correlation.Run(t.Context(), report.Run{Report: report.New(&out)},
		correlation.Options{Columns: 30, Rows: 500, CSVBytes: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"BenchmarkCorrelate/engine=gnocco-", "BenchmarkParseCSV/reader=gnocco ",
		"BenchmarkParseCSV/reader=encoding-csv "} {
		if !strings.Contains(out.String(), name) {
			t.Errorf("no %s in\n%s", name, out.String())
		}
	}
	if err := correlation.Run(t.Context(), report.Run{Report: report.New(&out)}, correlation.Options{}); err == nil {
		t.Error("nothing to correlate is no error")
	}
}
