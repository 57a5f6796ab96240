package promql_test

import (
	"testing"

	"github.com/prometheus/prometheus/model/histogram"

	"github.com/gnocco-db/gnocco/api/series"
	"github.com/gnocco-db/gnocco/model"
)

// partsOf returns the values of the parts that a native histogram is stored as.
func partsOf(t testing.TB, h *histogram.FloatHistogram) map[string]float64 {
	t.Helper()
	var batch series.Batch
	if err := batch.AddHistogram(new(series.Labels), 0, h); err != nil {
		t.Fatal(err)
	}
	_, values := batch.Columns()
	parts := make(map[string]float64, batch.Len())
	for i := range batch.Len() {
		parts[model.Labels(batch.AppendKey(nil, i)).Get(model.LabelHistogram)] = values[i]
	}
	return parts
}
