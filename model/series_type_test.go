package model_test

import (
	"math"
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
	f("latency_count", model.CounterType, model.CounterType)
	f("odd", model.UnknownType, model.UnknownType)
	f("up", model.UnknownType, model.UnknownType)
	for _, of := range []model.SeriesType{model.GaugeType, model.CounterType, model.HistogramType, model.UnknownType} {
		if want := of == model.CounterType || of == model.HistogramType; of.Grows() != want {
			t.Errorf("%s grows: %t", of, !want)
		}
	}
}

func TestTypeOf(t *testing.T) {
	kind := func(name string) string { return map[string]string{"depth_total": "gauge", "jobs": "counter"}[name] }
	f := func(m *model.Metric, want model.SeriesType, from model.TypeSource) {
		t.Helper()
		if got, source := model.TypeOf(m, kind); got != want || source != from {
			t.Errorf("%+v: %s by %q, want %s by %q", m, got, source, want, from)
		}
	}
	pushed := func(name string) model.Labels { return model.Labels(model.AppendLabel(nil, model.LabelName, name)) }
	f(&model.Metric{Name: "x_total", Type: model.GaugeType}, model.GaugeType, model.TypeIsSet)
	f(&model.Metric{Name: "x_total"}, model.CounterType, model.TypeByName)
	f(&model.Metric{Name: "depth_total"}, model.CounterType, model.TypeByName) // metadata is of pushed series
	f(&model.Metric{Labels: pushed("depth_total")}, model.GaugeType, model.TypeByMetadata)
	f(&model.Metric{Labels: pushed("jobs")}, model.CounterType, model.TypeByMetadata)
	f(&model.Metric{Labels: pushed("x_bucket")}, model.HistogramType, model.TypeByName)
	f(&model.Metric{Labels: pushed("up")}, model.UnknownType, model.TypeIsUnknown)
	f(&model.Metric{Name: "cpu", Unit: "ns"}, model.CounterType, model.TypeByName)
	f(&model.Metric{Name: "cpu", Unit: "%"}, model.UnknownType, model.TypeIsUnknown)
	f(&model.Metric{Name: "disk.device.read.bytes", Unit: "B"}, model.CounterType, model.TypeByName)
	f(&model.Metric{Name: "network.incoming.bytes", Unit: "B"}, model.CounterType, model.TypeByName)
	f(&model.Metric{Name: "network.incoming.bytes.rate", Unit: "B/s"}, model.UnknownType, model.TypeIsUnknown)
	f(&model.Metric{Name: "disk.device.usage", Unit: "B"}, model.UnknownType, model.TypeIsUnknown)
}

func TestGrowsByValues(t *testing.T) {
	f := func(values []float64, n int, want bool) {
		t.Helper()
		if got := model.GrowsByValues(values, n); got != want {
			t.Errorf("%v of %d: %v", values, n, got)
		}
	}
	f([]float64{1, 2, 3, 4, 5, 9}, 3, true)
	f([]float64{1, math.NaN(), 2, 2, 3, 3, 3, 3}, 4, true)
	f([]float64{1, 1, 1, 2, 2, 2}, 3, false) // a step
	f([]float64{1, 2, 3, 2, 3, 4}, 3, false)
	f([]float64{1, 1, 1, 1}, 2, false)
	f([]float64{1, 2}, 1, false)
	f(nil, 0, false)
	var restarted []float64
	for i := range 40 {
		restarted = append(restarted, float64(i%30))
	}
	f(restarted, 20, true)
	f([]float64{0, 5, 0, 5, 0, 5}, 3, false)
	f([]float64{0, 5, 9, 12, 14, 17, 19, 25, 28, 33, 40, -1, 4, 9}, 6, false)
}
