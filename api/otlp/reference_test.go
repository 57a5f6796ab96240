package otlp

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

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

// hasUnknownKind reports whether there may be points or values of unknown kinds in a message.
func hasUnknownKind(message protoreflect.Message) bool {
	name := message.Descriptor().Name()
	unknown := (name == "Metric" || name == "AnyValue") && len(message.GetUnknown()) > 0
	message.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.Name() == "string_value_strindex": // of profiles' tables of texts
			unknown = true
		case field.Message() == nil:
		case field.IsList():
			for list, i := value.List(), 0; i < list.Len(); i++ {
				unknown = unknown || hasUnknownKind(list.Get(i).Message())
			}
		default:
			unknown = unknown || hasUnknownKind(value.Message())
		}
		return !unknown
	})
	return unknown
}

// repeatsOneof reports whether a message, or one within it, has several fields of a oneof, or one several times: the
// reference keeps the last of these, and we refuse them, but for a metric's points of one kind, which both merge.
func repeatsOneof(message []byte, of protoreflect.MessageDescriptor) bool {
	seen := map[string]protowire.Number{}
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeField(message) // with its tag
		if n < 0 {
			return false
		}
		field, content := of.Fields().ByNumber(number), message[:n]
		message = message[n:]
		if field == nil {
			continue
		}
		if one := field.ContainingOneof(); one != nil {
			before, again := seen[string(one.FullName())]
			if again && (before != number || of.Name() != "Metric") {
				return true
			}
			seen[string(one.FullName())] = number
		}
		if field.Message() == nil || kind != protowire.BytesType {
			continue
		}
		_, _, tag := protowire.ConsumeTag(content)
		if within, n := protowire.ConsumeBytes(content[tag:]); n > 0 && repeatsOneof(within, field.Message()) {
			return true
		}
	}
	return false
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
		if hasUnknownKind(request.ProtoReflect()) || repeatsOneof(body, request.ProtoReflect().Descriptor()) {
			return // we refuse these, and the reference does not see them
		}
		got, err := shownSeries(carbonara.MaxTimestamp, func(v visitor) error { return decodeProtobuf(body, v) })
		if err != nil {
			return // by a bound of ours
		}
		want, err := shownSeries(carbonara.MaxTimestamp, func(v visitor) error { return visitReference(&request, v) })
		if err != nil || got != want {
			t.Fatalf("%x: %v\n%s\nwant\n%s\nof %v", body, err, got, want, &request)
		}
	})
}

// shownSeries returns what a decoder makes of a body whose points may be up to latest.
func shownSeries(latest carbonara.Timestamp, decode func(v visitor) error) (string, error) {
	tr := translator{batch: &series.Batch{}}
	tr.reset()
	tr.latest = latest
	if err := decode(&tr); err != nil {
		return "", err
	}
	if err := tr.endResource(); err != nil {
		return "", err
	}
	timestamps, values := tr.batch.Columns()
	var rows []string
	for i := range tr.batch.Len() {
		name, err := tr.batch.Name(i)
		at, to := tr.batch.Span(i)
		if to-at > 1 && slices.Max(timestamps[at:to]) > latest {
			return "", fmt.Errorf("row %d has %d measures, some after %d", i, to-at, latest)
		}
		for ; at < to; at++ {
			rows = append(rows, fmt.Sprintf("%+v %v %q %d %v %d", name, err, tr.batch.AppendKey(nil, i), timestamps[at],
				values[at], tr.pointOf[at]))
		}
	}
	slices.Sort(rows) // a map's fields have no order
	return fmt.Sprint(strings.Join(rows, "\n"), tr.points, tr.exemplars, tr.refused, tr.texts, tr.metadata), nil
}

// Points with the attributes of the point before become what each becomes alone, beside points of other series, without
// a value, of odd times, repeated, and with attributes in several places.
func TestPointsWithTheAttributesBefore(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	shared := 0
	for range 5_000 {
		var points []byte
		list := 0
		for range 1 + random.IntN(6) {
			lists := [][]byte{{}, message(7, pair("a", "1")), message(7, pair("a", "1"), 7, pair("b", "2")),
				message(7, pair("b", "2"), 7, pair("a", "1")), message(7, pair("a", "1"), 7, pair("a", "1"))}
			if random.IntN(3) == 0 {
				list = random.IntN(len(lists))
			}
			parts := [][]byte{message(3, uint64(random.IntN(9))*1e9), message(4, float64(random.IntN(9))), lists[list]}
			if random.IntN(8) == 0 {
				parts = append(parts, lists[random.IntN(len(lists))])
			}
			if random.IntN(8) == 0 {
				parts = append(parts, message(8, uint64(1)), message(8, 1))
			}
			if random.IntN(8) == 0 {
				parts[1] = message(5, message(2, uint64(1e9), 6, uint64(7), 7, pair("k", "v")))
			}
			if random.IntN(4) == 0 {
				random.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
			}
			points = append(points, message(1, bytes.Join(parts, nil))...)
		}
		body := export(nil, message(1, "g", 5, points), message(1, "g", 5, points[:0]), message(1, "h", 5, points))
		var request metricspb.MetricsData
		if err := proto.Unmarshal(body, &request); err != nil {
			t.Fatal(err)
		}
		latest := carbonara.Timestamp(random.IntN(9)) * 1e9
		rows := translator{batch: &series.Batch{}}
		rows.reset()
		rows.latest = latest
		if decodeProtobuf(body, &rows) == nil && rows.batch.Len() < len(rows.pointOf) {
			shared++
		}
		got, gotErr := shownSeries(latest, func(v visitor) error { return decodeProtobuf(body, v) })
		want, err := shownSeries(latest, func(v visitor) error { return visitReference(&request, v) })
		if got != want || fmt.Sprint(gotErr) != fmt.Sprint(err) {
			t.Fatalf("%x: %v\n%s\nwant %v\n%s", body, gotErr, got, err, want)
		}
	}
	if shared < 100 {
		t.Errorf("points of a series share a row in %d bodies", shared)
	}
}

// The attributes of the point before are not decoded again. Equal bytes below another scope or resource are another
// series.
func TestAttributesAreDecodedOnce(t *testing.T) {
	points := func(n int) (all []byte) {
		for i := range uint64(n) {
			all = append(all, message(1, message(3, 1e9*(i+1), 4, 1.5, 7, message(1, "k", 2, message(3, 1_000_000))))...)
		}
		return message(1, "g", 5, all)
	}
	tr := translator{batch: &series.Batch{}}
	allocations := func(body []byte) float64 {
		return testing.AllocsPerRun(5, func() {
			tr.reset()
			tr.latest = carbonara.MaxTimestamp
			if err := decodeProtobuf(body, &tr); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := allocations(export(nil, points(2))), allocations(export(nil, points(100))); many > few+10 {
		t.Errorf("%v allocations for 100 points, %v for 2: the number is written as text for each", many, few)
	}
	scope := func(name string) []byte { return message(2, message(1, message(1, name), 2, points(2))) }
	body := append(message(1, append(append(scope("a"), scope("b")...), message(1, message(1, pair("service.name", "x")))...)),
		message(1, append(scope("a"), message(1, message(1, pair("service.name", "y")))...))...)
	tr.reset()
	tr.latest = carbonara.MaxTimestamp
	if err := decodeProtobuf(body, &tr); err != nil || tr.points != 6 || len(tr.texts) > 0 {
		t.Fatal(err, tr.points, tr.texts)
	}
	for i, want := range [][2]string{{"a", "x"}, {"b", "x"}, {"a", "y"}} {
		name, err := tr.batch.Name(i)
		if from, to := tr.batch.Span(i); err != nil || to-from != 2 || tr.batch.Len() != 3 {
			t.Fatal(err, from, to, tr.batch.Len())
		}
		if scope, job := name.Labels.Get("otel_scope_name"), name.Labels.Get("job"); scope != want[0] || job != want[1] {
			t.Errorf("row %d: scope %s, job %s, want %s", i, scope, job, want)
		}
	}
}
