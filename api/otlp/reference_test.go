package otlp

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest/series"
)

// visitReference visits the points of a message that OpenTelemetry's own types hold.
func visitReference(request *metricspb.MetricsData, v visitor) error {
	for _, r := range request.ResourceMetrics {
		if err := v.resource(referenceAttributes(r.GetResource().GetAttributes())); err != nil {
			return err
		}
		for _, in := range r.ScopeMetrics {
			s := scope{name: in.GetScope().GetName(), version: in.GetScope().GetVersion(), schemaURL: in.SchemaUrl,
				attributes: referenceAttributes(in.GetScope().GetAttributes())}
			if err := v.scope(&s); err != nil {
				return err
			}
			for _, m := range in.Metrics {
				if err := visitReferenceMetric(m, v); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func visitReferenceMetric(in *metricspb.Metric, v visitor) error {
	m := metric{name: in.Name, description: in.Description, unit: in.Unit}
	var points []point
	numbers := func(list []*metricspb.NumberDataPoint) {
		for _, in := range list {
			p := point{attributes: referenceAttributes(in.Attributes), at: in.TimeUnixNano, flags: uint64(in.Flags),
				exemplars: referenceExemplars(in.Exemplars)}
			switch in.Value.(type) {
			case *metricspb.NumberDataPoint_AsDouble:
				p.value, p.hasValue = in.GetAsDouble(), true
			case *metricspb.NumberDataPoint_AsInt:
				p.value, p.hasValue = float64(in.GetAsInt()), true
			}
			points = append(points, p)
		}
	}
	switch data := in.Data.(type) {
	case *metricspb.Metric_Gauge:
		m.kind = gauge
		numbers(data.Gauge.DataPoints)
	case *metricspb.Metric_Sum:
		m.kind, m.temporality, m.monotonic = sum, int(data.Sum.AggregationTemporality), data.Sum.IsMonotonic
		numbers(data.Sum.DataPoints)
	case *metricspb.Metric_Histogram:
		m.kind, m.temporality = histogram, int(data.Histogram.AggregationTemporality)
		for _, in := range data.Histogram.DataPoints {
			points = append(points, point{attributes: referenceAttributes(in.Attributes), at: in.TimeUnixNano,
				flags: uint64(in.Flags), exemplars: referenceExemplars(in.Exemplars), value: in.GetSum(),
				hasValue: in.Sum != nil, count: in.Count, buckets: in.BucketCounts, bounds: in.ExplicitBounds})
		}
	case *metricspb.Metric_Summary:
		m.kind = summary
		for _, in := range data.Summary.DataPoints {
			p := point{attributes: referenceAttributes(in.Attributes), at: in.TimeUnixNano, flags: uint64(in.Flags),
				value: in.Sum, hasValue: true, count: in.Count}
			for _, q := range in.QuantileValues {
				p.quantiles = append(p.quantiles, quantile{q.Quantile, q.Value})
			}
			points = append(points, p)
		}
	}
	if err := v.metric(&m); err != nil {
		return err
	}
	for i := range points {
		if err := v.point(&points[i]); err != nil {
			return err
		}
	}
	return nil
}

func referenceExemplars(list []*metricspb.Exemplar) (all []exemplar) {
	for _, in := range list {
		e := exemplar{attributes: referenceAttributes(in.FilteredAttributes), at: in.TimeUnixNano,
			trace: hex.EncodeToString(in.TraceId), span: hex.EncodeToString(in.SpanId)}
		switch in.Value.(type) {
		case *metricspb.Exemplar_AsDouble:
			e.value = in.GetAsDouble()
		case *metricspb.Exemplar_AsInt:
			e.value = float64(in.GetAsInt())
		}
		all = append(all, e)
	}
	return all
}

func referenceAttributes(list []*commonpb.KeyValue) []attribute {
	attributes := make([]attribute, len(list))
	for i, in := range list {
		attributes[i] = attribute{in.Key, textOf(referenceValue(in.Value))}
	}
	return attributes
}

func referenceValue(in *commonpb.AnyValue) any {
	switch v := in.GetValue().(type) {
	case *commonpb.AnyValue_StringValue:
		return v.StringValue
	case *commonpb.AnyValue_BoolValue:
		return v.BoolValue
	case *commonpb.AnyValue_IntValue:
		return v.IntValue
	case *commonpb.AnyValue_DoubleValue:
		return v.DoubleValue
	case *commonpb.AnyValue_BytesValue:
		return v.BytesValue
	case *commonpb.AnyValue_ArrayValue:
		list := []any{}
		for _, item := range v.ArrayValue.Values {
			list = append(list, referenceValue(item))
		}
		return list
	case *commonpb.AnyValue_KvlistValue:
		fields := map[string]any{}
		for _, field := range v.KvlistValue.Values {
			fields[field.Key] = referenceValue(field.Value)
		}
		return fields
	}
	return nil
}

// FuzzReference holds the decoder to OpenTelemetry's own types: both make the same series. Exponential histograms have
// tests of their own.
func FuzzReference(f *testing.F) {
	f.Add(export(message(1, pair("service.name", "s")), message(1, "h", 9, message(1,
		message(3, uint64(1e9), 4, uint64(6), 5, 2.5, 7, 0.5, 6, uint64(1), 6, uint64(5), 9, pair("k", "v")), 2, cumulative))))
	f.Add(export(nil, message(1, "c", 7, message(1, message(3, uint64(1e9), 6, uint64(6), 5, ""), 2, delta, 3, 1), 3, "By")))
	f.Add(export(nil, message(1, "g", 5, message(1, message(3, uint64(1e9), 4, 1.5, 8, 1, 7, message(1, "k",
		2, message(5, message(1, message(3, 7), 1, message(6, message(1, pair("a", "b")))))))))))
	f.Add(export(nil, message(1, "s", 11, message(1, message(3, uint64(1e9), 4, uint64(6), 5, 2.5, 6, message(1, 0.5, 2, 7.5))))))
	f.Add(export(nil, message(1, "s", 11, message(1, message(3, uint64(1e9), 4, uint64(6)))))) // no sum
	f.Add(export(nil, message(1, "c", 7, message(1, message(3, uint64(1e9), 4, 1.5, 5, message(2, uint64(1e9), 6, uint64(7), 4, "s",
		5, "t", 7, pair("k", "v"))), 2, cumulative, 3, 1))))
	f.Fuzz(func(t *testing.T, body []byte) {
		var request metricspb.MetricsData
		if proto.Unmarshal(body, &request) != nil {
			return
		}
		for _, r := range request.ResourceMetrics {
			for _, scope := range r.ScopeMetrics {
				for _, m := range scope.Metrics {
					if m.GetExponentialHistogram() != nil {
						return
					}
				}
			}
		}
		shown := func(decode func(v visitor) error) (string, error) {
			tr := translator{batch: &series.Batch{}}
			tr.reset()
			tr.latest = carbonara.MaxTimestamp
			if err := decode(&tr); err != nil {
				return "", err
			}
			if err := tr.endResource(); err != nil {
				return "", err
			}
			timestamps, values := tr.batch.Columns()
			var rows []string
			for i := range tr.batch.Len() {
				from, _ := tr.batch.Span(i)
				name, err := tr.batch.Name(i)
				rows = append(rows, fmt.Sprintf("%+v %v %q %d %v", name, err, tr.batch.AppendKey(nil, i), timestamps[from],
					values[from]))
			}
			slices.Sort(rows) // a map's fields have no order
			return fmt.Sprint(strings.Join(rows, "\n"), tr.points, tr.exemplars, tr.refused, tr.texts, tr.metadata), nil
		}
		got, err := shown(func(v visitor) error { return decodeProtobuf(body, v) })
		if err != nil {
			return // by a bound of ours
		}
		want, err := shown(func(v visitor) error { return visitReference(&request, v) })
		if err != nil || got != want {
			t.Fatalf("%x: %v\n%s\nwant\n%s\nof %v", body, err, got, want, &request)
		}
	})
}
