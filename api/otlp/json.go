package otlp

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gnocco-db/gnocco/api/text"
	"github.com/gnocco-db/gnocco/ingest/plaintext"
)

// The messages as JSON: names in lowerCamelCase, 64-bit integers as text or numbers, doubles beyond JSON as text, enums
// as numbers or names. An element that is otherwise costs itself: a point, all points of a metric, or an exemplar.

var errObject = errors.New("it is no object")

// decodeJSON visits the points of an ExportMetricsServiceRequest.
func decodeJSON(body []byte, v visitor) error {
	root, err := parseJSON(body)
	if err != nil {
		return err
	}
	request := object{of: root}
	err = request.each("resourceMetrics", v, func(r *object) error { return r.resourceMetrics(v) })
	return cmp.Or(err, request.fault)
}

// parseJSON reads a body into maps, lists and numbers as they came. Python's encoder writes NaN and infinities as
// words. An odd value costs the element that it stands in.
func parseJSON(body []byte) (map[string]any, error) {
	root, _, err := text.ReadJSON(body)
	if _, odd := errors.AsType[*json.SyntaxError](err); odd {
		if quoted := plaintext.QuoteWords(body); len(quoted) > len(body) {
			return parseJSON(quoted)
		}
	}
	if err != nil {
		return nil, err
	}
	of, ok := root.(map[string]any)
	if !ok {
		return nil, errObject
	}
	return of, nil
}

// An object is a message of which fields are read. fault is of the first field that is not as the message has it.
type object struct {
	of    map[string]any
	fault error
}

// odd notes a field that is not what it has to be.
func (m *object) odd(name, want string) {
	if m.fault == nil {
		shown, _ := json.Marshal(m.of[name]) // it was read from JSON
		m.fault = fmt.Errorf("%s %.60s is not %s", name, shown, want)
		if odd, ok := m.of[name].(*text.OddValue); ok {
			m.fault = odd
		}
	}
}

// fieldOf returns a field of a type. null is as good as none.
func fieldOf[T any](m *object, name, want string) (value T, ok bool) {
	if m.of[name] == nil {
		return value, false
	}
	if value, ok = m.of[name].(T); !ok {
		m.odd(name, want)
	}
	return value, ok
}

func (m *object) text(name string) string {
	text, _ := fieldOf[string](m, name, "text")
	return text
}

func (m *object) list(name string) []any {
	list, _ := fieldOf[[]any](m, name, "a list")
	return list
}

// object returns a field that is an object, nil for none.
func (m *object) object(name string) *object {
	of, ok := fieldOf[map[string]any](m, name, "an object")
	if !ok {
		return nil
	}
	return &object{of: of}
}

// each calls do for the objects of a list, and refuses what is none.
func (m *object) each(name string, v visitor, do func(*object) error) error {
	list := m.list(name)
	if list == nil && m.of[name] != nil {
		v.refuse(max(1, pointsIn(name, m.of[name])), m.fault)
	}
	for i, item := range list {
		of, ok := item.(map[string]any)
		if !ok {
			v.refuse(1, fmt.Errorf("%s[%d] is not an object", name, i))
			continue
		}
		if err := do(&object{of: of}); err != nil {
			return err
		}
	}
	m.refuseUnknown(v, name)
	return nil
}

// refuseUnknown refuses the points below unknown fields. Others of these mean nothing, as OTLP says.
func (m *object) refuseUnknown(v visitor, known ...string) {
	for _, name := range slices.Sorted(maps.Keys(m.of)) {
		if slices.Contains(known, name) {
			continue
		}
		if n := pointsIn(name, m.of[name]); n > 0 {
			v.refuse(n, fmt.Errorf("field %.60q is not known", name))
		}
	}
}

// pointsIn returns how many points there are below a field, however its name is spelled.
func pointsIn(name string, value any) (n int) {
	switch of := value.(type) {
	case map[string]any:
		for name, one := range of {
			n += pointsIn(name, one)
		}
	case []any:
		if strings.EqualFold(strings.ReplaceAll(name, "_", ""), "dataPoints") {
			return len(of)
		}
		for _, one := range of {
			n += pointsIn("", one)
		}
	case *text.OddValue:
		for _, one := range of.Values {
			n += pointsIn(name, one)
		}
	}
	return n
}

// numberOf returns a field that is a number, which may stand in quotes.
func numberOf[T any](m *object, name, want string, parse func(text string) (T, error)) (n T, ok bool) {
	text, quoted := m.of[name].(string)
	if v, plain := m.of[name].(json.Number); plain {
		text = string(v)
	} else if !quoted {
		fieldOf[json.Number](m, name, want)
		return n, false
	}
	n, err := parse(text)
	if err != nil {
		m.odd(name, want)
	}
	return n, true
}

func (m *object) uint(name string) uint64 {
	n, _ := numberOf(m, name, "an unsigned integer of 64 bits", func(text string) (uint64, error) {
		return strconv.ParseUint(plaintext.Whole(text), 10, 64)
	})
	return n
}

func (m *object) int(name string, bits int) (n int64, ok bool) {
	return numberOf(m, name, fmt.Sprintf("an integer of %d bits", bits), func(text string) (int64, error) {
		return strconv.ParseInt(plaintext.Whole(text), 10, bits)
	})
}

func (m *object) float(name string) (value float64, ok bool) {
	return numberOf(m, name, "a number of 64 bits", plaintext.ParseValue)
}

// floats returns the numbers of a list.
func (m *object) floats(name string) (values []float64) {
	return numbersOf(m, name, "a list of numbers of 64 bits", func(one *object) float64 {
		value, _ := one.float(name)
		return value
	})
}

// uints returns the unsigned integers of a list.
func (m *object) uints(name string) (values []uint64) {
	return numbersOf(m, name, "a list of unsigned integers of 64 bits", func(one *object) uint64 { return one.uint(name) })
}

// numbersOf returns the items of a list, each read as a field of that name.
func numbersOf[T any](m *object, name, want string, read func(*object) T) (values []T) {
	for _, item := range m.list(name) {
		one := object{of: map[string]any{name: item}}
		values = append(values, read(&one))
		if item == nil || one.fault != nil {
			m.odd(name, want)
			return nil
		}
	}
	return values
}

// temporality returns an AggregationTemporality, by number or by name.
func (m *object) temporality() int {
	const name = "aggregationTemporality"
	text, _ := m.of[name].(string)
	if i := slices.Index([]string{"AGGREGATION_TEMPORALITY_UNSPECIFIED", "AGGREGATION_TEMPORALITY_DELTA",
		"AGGREGATION_TEMPORALITY_CUMULATIVE"}, text); i >= 0 {
		return i
	}
	n, _ := m.int(name, 32)
	return int(n)
}

// attributes returns a list of KeyValue. The fault of one of them is the message's.
func (m *object) attributes(name string) (attributes []attribute) {
	for i, item := range m.list(name) {
		a, err := attributeOf(item, 0)
		if err != nil {
			if m.fault == nil {
				m.fault = fmt.Errorf("%s[%d]: %w", name, i, err)
			}
			continue
		}
		attributes = append(attributes, attribute{a.key, textOf(a.value)})
	}
	return attributes
}

// attributeOf reads a KeyValue.
func attributeOf(item any, depth int) (a keyValue, err error) {
	of, ok := item.(map[string]any)
	if !ok {
		return a, errors.New("it is not an object")
	}
	m := object{of: of}
	a.key = m.text("key")
	if value := m.object("value"); value != nil {
		if a.value, err = value.plain(depth); err != nil {
			return a, fmt.Errorf("key %.60q: %w", a.key, err)
		}
	}
	return a, m.fault
}

// plain returns an AnyValue as protobuf's decoder does.
func (m *object) plain(depth int) (value any, err error) {
	if depth > maxNesting {
		return nil, errNesting
	}
	for _, name := range slices.Sorted(maps.Keys(m.of)) {
		if m.of[name] == nil {
			continue
		}
		if value != nil {
			m.odd(name, "the only value")
		}
		switch name {
		case "stringValue":
			value = m.text(name)
		case "boolValue":
			value, _ = fieldOf[bool](m, name, "true or false")
		case "intValue":
			value, _ = m.int(name, 64)
		case "doubleValue":
			value, _ = m.float(name)
		case "bytesValue":
			content, err := base64.StdEncoding.DecodeString(m.text(name))
			if err != nil {
				m.odd(name, "base64")
			}
			value = content
		case "arrayValue", "kvlistValue":
			if value, err = m.nested(name, depth+1); err != nil {
				return nil, err
			}
		default:
			m.odd(name, "a value of a known kind")
		}
	}
	return value, m.fault
}

// nested returns a list or a map.
func (m *object) nested(name string, depth int) (any, error) {
	list, fields := []any{}, map[string]any{}
	inner := cmp.Or(m.object(name), &object{})
	for _, item := range inner.list("values") {
		if name == "arrayValue" { // as the value of an attribute without a key
			item = map[string]any{"value": item}
		}
		a, err := attributeOf(item, depth)
		if _, twice := fields[a.key]; twice && name == "kvlistValue" {
			err = fmt.Errorf("%.60q stands there twice", a.key)
		}
		if err != nil {
			return nil, err
		}
		list, fields[a.key] = append(list, a.value), a.value
	}
	m.fault = cmp.Or(m.fault, inner.fault)
	if name == "arrayValue" {
		return list, nil
	}
	return fields, nil
}

// resourceMetrics visits a ResourceMetrics.
func (m *object) resourceMetrics(v visitor) error {
	attributes, fault := m.resource(v)
	if err := v.resource(attributes); err != nil {
		return err
	}
	return m.each("scopeMetrics", v, func(of *object) error {
		s := scope{schemaURL: of.text("schemaUrl")}
		odd := cmp.Or(fault, of.fault)
		if in := of.object("scope"); in != nil {
			s.name, s.version, s.attributes = in.text("name"), in.text("version"), in.attributes("attributes")
			odd = cmp.Or(odd, in.fault)
		}
		odd = cmp.Or(odd, of.fault)
		if err := v.scope(&s); err != nil {
			return err
		}
		return of.each("metrics", v, func(metric *object) error { return metric.metric(v, odd) })
	})
}

// resource returns the attributes of the resource. One that cannot be read is left out, unless it tells the resource
// from others: then fault refuses all points.
func (m *object) resource(v visitor) (attributes []attribute, fault error) {
	in := m.object("resource")
	if in == nil {
		return nil, m.fault
	}
	for i, item := range in.list("attributes") {
		a, err := attributeOf(item, 0)
		switch {
		case err == nil:
			attributes = append(attributes, attribute{a.key, textOf(a.value)})
		case a.key == "" || identifies(a.key):
			fault = cmp.Or(fault, fmt.Errorf("resource: attributes[%d]: %w", i, err))
		default:
			v.note(fmt.Sprintf("resource: attributes[%d] was left out: %v", i, err))
		}
	}
	return attributes, cmp.Or(fault, in.fault)
}

var kinds = map[string]kind{"gauge": gauge, "sum": sum, "histogram": histogram,
	"exponentialHistogram": exponentialHistogram, "summary": summary}

var kindNames = slices.Sorted(maps.Keys(kinds))

// metric visits a Metric. odd, if not nil, refuses its points.
func (m *object) metric(v visitor, odd error) error {
	of := metric{name: m.text("name"), description: m.text("description"), unit: m.text("unit")}
	data := &object{}
	for _, name := range kindNames {
		if found := m.object(name); found != nil {
			if data.of != nil {
				m.odd(name, "the only kind of points")
			}
			of.kind, data = kinds[name], found
		}
	}
	of.temporality = data.temporality()
	of.monotonic, _ = fieldOf[bool](data, "isMonotonic", "true or false")
	points := data.list("dataPoints")
	if odd = cmp.Or(odd, m.fault, data.fault); odd != nil {
		v.refuse(max(1, pointsIn("", m.of)), fmt.Errorf("%.200s: %w", of.name, odd))
		return nil
	}
	m.refuseUnknown(v, kindNames...)
	data.refuseUnknown(v, "dataPoints")
	if err := v.metric(&of); err != nil {
		return err
	}
	for i, item := range points {
		fields, ok := item.(map[string]any)
		in := &object{of: fields}
		p := in.point(v, &of)
		if !ok {
			in.fault = errors.New("it is not an object")
		}
		if in.fault != nil {
			v.refuse(1, fmt.Errorf("%.200s: dataPoints[%d]: %w", of.name, i, in.fault))
			continue
		}
		if err := v.point(&p); err != nil {
			return err
		}
	}
	return nil
}

// point reads a point of a metric. An exemplar that cannot be read is left out.
func (m *object) point(v visitor, of *metric) point {
	p := point{attributes: m.attributes("attributes"), at: m.uint("timeUnixNano"), flags: m.uint("flags"),
		count: m.uint("count"), buckets: m.uints("bucketCounts"), bounds: m.floats("explicitBounds")}
	for i, item := range m.list("exemplars") {
		fields, ok := item.(map[string]any)
		in := &object{of: fields}
		e := exemplar{at: in.uint("timeUnixNano"), trace: in.text("traceId"), span: in.text("spanId"),
			attributes: in.attributes("filteredAttributes")}
		e.value, _ = in.value()
		if ok && in.fault == nil {
			p.exemplars = append(p.exemplars, e)
			continue
		}
		v.note(fmt.Sprintf("%.200s: exemplars[%d] was left out: %v", of.name, i, cmp.Or(in.fault, errObject)))
	}
	if p.value, p.hasValue = m.float("sum"); of.kind == gauge || of.kind == sum {
		p.value, p.hasValue = m.value()
	}
	for _, item := range m.list("quantileValues") {
		fields, ok := item.(map[string]any)
		in := &object{of: fields}
		var q quantile
		q.quantile, _ = in.float("quantile")
		q.value, _ = in.float("value")
		if !ok || in.fault != nil {
			m.odd("quantileValues", "a list of quantiles and values")
		}
		p.quantiles = append(p.quantiles, q)
	}
	scale, _ := m.int("scale", 32)
	p.exponential = exponential{scale: int32(scale), zeroCount: m.uint("zeroCount"), positive: m.buckets("positive"),
		negative: m.buckets("negative")}
	p.zeroThreshold, _ = m.float("zeroThreshold")
	return p
}

// value returns the value of a number.
func (m *object) value() (value float64, ok bool) {
	value, ok = m.float("asDouble")
	n, whole := m.int("asInt", 64)
	if !ok {
		value = float64(n)
	} else if whole && value != float64(n) {
		m.odd("asInt", "the only value")
	}
	return value, ok || whole
}

// buckets reads a message Buckets.
func (m *object) buckets(name string) (b exponentialBuckets) {
	in := m.object(name)
	if in == nil {
		return b
	}
	offset, _ := in.int("offset", 32)
	b.offset, b.counts = int32(offset), in.uints("bucketCounts")
	m.fault = cmp.Or(m.fault, in.fault)
	return b
}
