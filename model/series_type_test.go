package model_test

import (
	"testing"

	"github.com/gnocco-db/gnocco/model"
)

func TestTypeOfSeries(t *testing.T) {
	known := map[string]string{"depth": "gauge", "requests": "counter", "depth_total": "gauge", "latency": "histogram",
		"size": "gaugehistogram", "rpc": "summary", "odd": "unknown"}
	f := func(name string, want, byName model.SeriesType) {
		t.Helper()
		if got := model.TypeOfSeries(name, func(name string) string { return known[name] }); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if got := model.TypeOfSeries(name, nil); got != byName {
			t.Errorf("%s by its name: %s, want %s", name, got, byName)
		}
	}
	f("depth", model.GaugeType, model.UnknownType)
	f("depth_total", model.GaugeType, model.CounterType)
	f("requests", model.CounterType, model.UnknownType)
	f("requests_total", model.CounterType, model.CounterType)
	f("latency_bucket", model.HistogramType, model.HistogramType)
	f("latency_sum", model.CounterType, model.CounterType)
	f("size_bucket", model.GaugeType, model.HistogramType)
	f("rpc", model.GaugeType, model.UnknownType)
	f("rpc_count", model.CounterType, model.CounterType)
	f("odd", model.UnknownType, model.UnknownType)
	f("up", model.UnknownType, model.UnknownType)
	for _, of := range []model.SeriesType{model.GaugeType, model.CounterType, model.HistogramType, model.UnknownType} {
		if want := of == model.CounterType || of == model.HistogramType; of.Grows() != want {
			t.Errorf("%s grows: %t", of, !want)
		}
	}
}
