package formats_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	simdjson "github.com/minio/simdjson-go"
	"github.com/valyala/fastjson"

	"github.com/gnocco-db/gnocco/api/measures"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// now is the time to which relative times would refer.
const now = 1_412_606_037_000_000_000

// shape is a body of a batch.
type shape struct {
	name          string
	metrics, each int
	body          []byte
	sum           float64 // of the values
}

// shapes are what clients send: one measure of many metrics at one time, as a collector does at every interval, and
// minutes of measures of some metrics, in the three ways of writing times.
func shapes() []shape {
	return []shape{
		newShape("shape=10000x1/times=iso", 10000, 1, func(t time.Time) string {
			return t.Format(`"2006-01-02T15:04:05"`)
		}),
		newShape("shape=100x60/times=iso", 100, 60, func(t time.Time) string {
			return t.Format(`"2006-01-02T15:04:05"`)
		}),
		newShape("shape=100x60/times=iso+offset", 100, 60, func(t time.Time) string {
			return t.Format(`"2006-01-02T15:04:05.000000+00:00"`)
		}),
		newShape("shape=100x60/times=number", 100, 60, func(t time.Time) string {
			return strconv.FormatInt(t.Unix(), 10)
		}),
	}
}

func newShape(name string, metrics, each int, text func(time.Time) string) shape {
	r := rand.New(rand.NewPCG(1, 2))
	s := shape{name: name, metrics: metrics, each: each}
	start := time.Date(2014, 10, 6, 14, 33, 57, 0, time.UTC)
	for i := range metrics {
		s.body = fmt.Appendf(s.body, `%s"%s": [`, []string{"{", ", "}[min(i, 1)], uuid.NewSHA1(uuid.Nil, fmt.Append(nil, i)))
		for j := range each {
			value := float64(r.IntN(1_000_000)) / 1000
			s.sum += value
			s.body = fmt.Appendf(s.body, `%s{"timestamp": %s, "value": %v}`, []string{"", ", "}[min(j, 1)],
				text(start.Add(time.Duration(j)*time.Minute)), value)
		}
		s.body = append(s.body, ']')
	}
	s.body = append(s.body, '}')
	return s
}

// BenchmarkDecode compares our decoder of measures with other parsers of JSON.
func BenchmarkDecode(b *testing.B) {
	for _, s := range shapes() {
		var m model.Measures
		bench := func(parser string, decode func() error) {
			b.Run(s.name+"/parser="+parser, func(b *testing.B) {
				b.SetBytes(int64(len(s.body)))
				b.ReportAllocs()
				for b.Loop() {
					fatal.If(b, decode())
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(s.metrics*s.each), "ns/measure")
				var sum float64
				for _, v := range m.Values {
					sum += v
				}
				if len(m.Metrics) != s.metrics || m.Len() != s.metrics*s.each || math.Abs(sum-s.sum) > 1e-6*s.sum {
					b.Fatalf("%d metrics, %d measures, sum %v", len(m.Metrics), m.Len(), sum)
				}
			})
		}
		var d measures.Decoder
		bench("scanner", func() error { return d.DecodeBatch(s.body, now, &m) })
		// A key that the scanner does not know sends the body to the document parser.
		surprising := bytes.Replace(s.body, []byte(`"value": `), []byte(`"":0,"value": `), 1)
		bench("document", func() error { return d.DecodeBatch(surprising, now, &m) })
		var fast fastjson.Parser
		bench("fastjson", func() error { return decodeFastjson(&fast, s.body, &m) })
		if simdjson.SupportedCPU() {
			var parsed *simdjson.ParsedJson
			bench("simdjson-go", func() (err error) {
				parsed, err = decodeSimdjson(s.body, parsed, &m)
				return err
			})
		}
		bench("encoding-json", func() error { return decodeEncodingJSON(s.body, &m) })
	}
}

// The others are used as one would who knows them, with the same reader of timestamps, and without a look for metrics
// that stand twice.

func decodeEncodingJSON(body []byte, m *model.Measures) error {
	var batch map[uuid.UUID][]struct {
		Timestamp json.RawMessage `json:"timestamp"`
		Value     float64         `json:"value"`
	}
	if err := json.Unmarshal(body, &batch); err != nil {
		return err
	}
	m.Reset()
	m.Offsets = append(m.Offsets, 0)
	for id, list := range batch {
		for _, item := range list {
			text := string(item.Timestamp)
			if text[0] == '"' {
				text = text[1 : len(text)-1]
			}
			t, err := model.ParseTimestamp(text, now)
			if err != nil {
				return err
			}
			m.Timestamps = append(m.Timestamps, t)
			m.Values = append(m.Values, item.Value)
		}
		m.Metrics = append(m.Metrics, id)
		m.Offsets = append(m.Offsets, m.Len())
	}
	return nil
}

func decodeFastjson(p *fastjson.Parser, body []byte, m *model.Measures) error {
	batch, err := p.ParseBytes(body)
	if err != nil {
		return err
	}
	object, err := batch.Object()
	if err != nil {
		return err
	}
	m.Reset()
	m.Offsets = append(m.Offsets, 0)
	object.Visit(func(key []byte, list *fastjson.Value) {
		id, e := uuid.ParseBytes(key)
		if e != nil {
			err = e
			return
		}
		for _, item := range list.GetArray() {
			var t carbonara.Timestamp
			if at := item.Get("timestamp"); at.Type() == fastjson.TypeNumber {
				t = carbonara.Timestamp(at.GetInt64()) * 1e9
			} else {
				t, _ = model.ParseISO(string(at.GetStringBytes()))
			}
			m.Timestamps = append(m.Timestamps, t)
			m.Values = append(m.Values, item.GetFloat64("value"))
		}
		m.Metrics = append(m.Metrics, id)
		m.Offsets = append(m.Offsets, m.Len())
	})
	return err
}

func decodeSimdjson(body []byte, reuse *simdjson.ParsedJson, m *model.Measures) (*simdjson.ParsedJson, error) {
	parsed, err := simdjson.Parse(body, reuse, simdjson.WithCopyStrings(false))
	if err != nil {
		return reuse, err
	}
	m.Reset()
	m.Offsets = append(m.Offsets, 0)
	var batch, measure simdjson.Object
	var list simdjson.Array
	var item, field simdjson.Iter
	root := parsed.Iter()
	root.Advance()
	if _, _, err := root.Root(&item); err != nil {
		return parsed, err
	}
	if _, err := item.Object(&batch); err != nil {
		return parsed, err
	}
	for {
		name, kind, err := batch.NextElementBytes(&item)
		if err != nil {
			return parsed, err
		}
		if kind == simdjson.TypeNone {
			return parsed, nil
		}
		id, err := uuid.ParseBytes(name)
		if err != nil {
			return parsed, err
		}
		if _, err := item.Array(&list); err != nil {
			return parsed, err
		}
		for elements := list.Iter(); elements.Advance() == simdjson.TypeObject; {
			if _, err := elements.Object(&measure); err != nil {
				return parsed, err
			}
			for {
				key, kind, err := measure.NextElementBytes(&field)
				if err != nil {
					return parsed, err
				}
				if kind == simdjson.TypeNone {
					break
				}
				switch {
				case string(key) == "value":
					v, err := field.Float()
					if err != nil {
						return parsed, err
					}
					m.Values = append(m.Values, v)
				case kind == simdjson.TypeString:
					text, _ := field.StringBytes()
					t, _ := model.ParseISO(string(text))
					m.Timestamps = append(m.Timestamps, t)
				default:
					seconds, _ := field.Int()
					m.Timestamps = append(m.Timestamps, carbonara.Timestamp(seconds)*1e9)
				}
			}
		}
		m.Metrics = append(m.Metrics, id)
		m.Offsets = append(m.Offsets, m.Len())
	}
}
