package otlp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"strconv"
)

// The messages as JSON: names in lowerCamelCase, 64-bit integers as text or numbers, and doubles beyond JSON as text.
type (
	jsonRequest struct {
		ResourceMetrics []struct {
			Resource     struct{ Attributes []jsonAttribute }
			ScopeMetrics []struct{ Metrics []jsonMetric }
		}
	}
	jsonMetric struct {
		Name, Description, Unit                              string
		Gauge, Sum, Histogram, ExponentialHistogram, Summary *jsonData
	}
	jsonData struct {
		DataPoints             []jsonPoint
		AggregationTemporality int
		IsMonotonic            bool
	}
	jsonPoint struct {
		Attributes     []jsonAttribute
		TimeUnixNano   jsonUint
		Flags          uint64
		Exemplars      []jsonExemplar
		AsDouble       *jsonDouble
		AsInt          *jsonInt
		Count          jsonUint
		Sum            *jsonDouble
		BucketCounts   []jsonUint
		ExplicitBounds []jsonDouble
		QuantileValues []struct{ Quantile, Value jsonDouble }

		Scale              int32
		ZeroCount          jsonUint
		ZeroThreshold      jsonDouble
		Positive, Negative jsonBuckets
	}
	jsonExemplar struct {
		FilteredAttributes []jsonAttribute
		TimeUnixNano       jsonUint
		AsDouble           *jsonDouble
		AsInt              *jsonInt
		TraceID, SpanID    string
	}
	jsonBuckets struct {
		Offset       int32
		BucketCounts []jsonUint
	}
	jsonAttribute struct {
		Key   string
		Value jsonValue
	}
	jsonValue struct {
		StringValue *string
		BoolValue   *bool
		IntValue    *jsonInt
		DoubleValue *jsonDouble
		ArrayValue  *struct{ Values []jsonValue }
		KvlistValue *struct{ Values []jsonAttribute }
		BytesValue  *string
	}
)

type (
	jsonUint   uint64
	jsonInt    int64
	jsonDouble float64
)

// unquoted returns the text of a number, which may stand in quotes.
func unquoted(text []byte) string {
	if n := len(text); n > 1 && text[0] == '"' && text[n-1] == '"' {
		text = text[1 : n-1]
	}
	return string(text)
}

// UnmarshalJSON implements json.Unmarshaler, as these all do.
func (n *jsonUint) UnmarshalJSON(text []byte) (err error) {
	*(*uint64)(n), err = strconv.ParseUint(unquoted(text), 10, 64)
	return err
}

// UnmarshalJSON is of json.Unmarshaler.
func (n *jsonInt) UnmarshalJSON(text []byte) (err error) {
	*(*int64)(n), err = strconv.ParseInt(unquoted(text), 10, 64)
	return err
}

// UnmarshalJSON is of json.Unmarshaler.
func (n *jsonDouble) UnmarshalJSON(text []byte) (err error) {
	switch plain := unquoted(text); plain {
	case "NaN":
		*n = jsonDouble(math.NaN())
	default: // also Infinity and -Infinity
		*(*float64)(n), err = strconv.ParseFloat(plain, 64)
	}
	return err
}

// plain returns the value as protobuf's decoder does.
func (v *jsonValue) plain() any {
	switch {
	case v.StringValue != nil:
		return *v.StringValue
	case v.BoolValue != nil:
		return *v.BoolValue
	case v.IntValue != nil:
		return int64(*v.IntValue)
	case v.DoubleValue != nil:
		return float64(*v.DoubleValue)
	case v.ArrayValue != nil:
		list := []any{}
		for i := range v.ArrayValue.Values {
			list = append(list, v.ArrayValue.Values[i].plain())
		}
		return list
	case v.KvlistValue != nil:
		fields := map[string]any{}
		for i := range v.KvlistValue.Values {
			fields[v.KvlistValue.Values[i].Key] = v.KvlistValue.Values[i].Value.plain()
		}
		return fields
	case v.BytesValue != nil:
		if content, err := base64.StdEncoding.DecodeString(*v.BytesValue); err == nil {
			return content
		}
	}
	return nil
}

func plainAttributes(list []jsonAttribute) []attribute {
	attributes := make([]attribute, len(list))
	for i := range list {
		attributes[i] = attribute{list[i].Key, textOf(list[i].Value.plain())}
	}
	return attributes
}

var errObject = errors.New("otlp: the body is no object")

// decodeJSON visits the points of an ExportMetricsServiceRequest.
func decodeJSON(body []byte, v visitor) error {
	var request jsonRequest
	if !bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{")) {
		return errObject
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return err
	}
	for _, r := range request.ResourceMetrics {
		if err := v.resource(plainAttributes(r.Resource.Attributes)); err != nil {
			return err
		}
		for _, scope := range r.ScopeMetrics {
			for i := range scope.Metrics {
				if err := scope.Metrics[i].visit(v); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (j *jsonMetric) visit(v visitor) error {
	m := metric{name: j.Name, description: j.Description, unit: j.Unit}
	var data jsonData
	for _, of := range []struct {
		kind kind
		data *jsonData
	}{{gauge, j.Gauge}, {sum, j.Sum}, {histogram, j.Histogram}, {exponentialHistogram, j.ExponentialHistogram},
		{summary, j.Summary}} {
		if of.data != nil {
			m.kind, data = of.kind, *of.data
		}
	}
	m.temporality, m.monotonic = data.AggregationTemporality, data.IsMonotonic
	if err := v.metric(&m); err != nil {
		return err
	}
	for i := range data.DataPoints {
		p := data.DataPoints[i].plain()
		if err := v.point(&p); err != nil {
			return err
		}
	}
	return nil
}

func (j *jsonPoint) plain() point {
	p := point{attributes: plainAttributes(j.Attributes), at: uint64(j.TimeUnixNano), flags: j.Flags,
		count: uint64(j.Count)}
	for i := range j.Exemplars {
		in := &j.Exemplars[i]
		e := exemplar{at: uint64(in.TimeUnixNano), trace: in.TraceID, span: in.SpanID,
			attributes: plainAttributes(in.FilteredAttributes)}
		switch {
		case in.AsDouble != nil:
			e.value = float64(*in.AsDouble)
		case in.AsInt != nil:
			e.value = float64(*in.AsInt)
		}
		p.exemplars = append(p.exemplars, e)
	}
	switch {
	case j.AsDouble != nil:
		p.value, p.hasValue = float64(*j.AsDouble), true
	case j.AsInt != nil:
		p.value, p.hasValue = float64(*j.AsInt), true
	case j.Sum != nil:
		p.value, p.hasValue = float64(*j.Sum), true
	}
	for _, n := range j.BucketCounts {
		p.buckets = append(p.buckets, uint64(n))
	}
	for _, bound := range j.ExplicitBounds {
		p.bounds = append(p.bounds, float64(bound))
	}
	for _, q := range j.QuantileValues {
		p.quantiles = append(p.quantiles, quantile{float64(q.Quantile), float64(q.Value)})
	}
	p.exponential = exponential{j.Scale, uint64(j.ZeroCount), float64(j.ZeroThreshold), j.Positive.plain(),
		j.Negative.plain()}
	return p
}

func (j *jsonBuckets) plain() exponentialBuckets {
	b := exponentialBuckets{offset: j.Offset}
	for _, n := range j.BucketCounts {
		b.counts = append(b.counts, uint64(n))
	}
	return b
}
