package promql

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/util/stats"
)

// JSON is the beginning of an answer in the form in which it is sent, up to the end of its data.
type JSON []byte

// Encoded returns the value of an evaluation, which is not needed any more. Memory for more than a little is acquired
// first; acquire may be nil.
func Encoded(v parser.Value, acquire func(bytes int) error) (JSON, error) {
	return (&room{acquire: acquire}).appendResult([]byte(answerBegins), v)
}

// WithStats adds what the evaluation took.
func (j JSON) WithStats(taken *stats.Statistics) (JSON, error) {
	text, err := json.Marshal(stats.NewQueryStats(taken))
	if err != nil {
		return nil, err
	}
	return append(append(append(j[:len(j)-1], `,"stats":`...), text...), '}'), nil
}

// room makes room in a text, for which memory is acquired.
type room struct {
	acquire func(bytes int) error // nil: it is not bounded
	taken   int
}

// pointText is what a sample has as text, but for few numbers.
const pointText = 48

// grow returns dst with room for labels and so many samples.
func (r *room) grow(dst []byte, l labels.Labels, points int) ([]byte, error) {
	more := 64 + pointText*points
	l.Range(func(label labels.Label) { more += 8 + len(label.Name) + len(label.Value) })
	n := len(dst) + more
	if n <= cap(dst) {
		return dst, nil
	}
	n = max(n+n/4, 4096)
	const small = 64 << 10
	if n > small && r.acquire != nil {
		if err := r.acquire(n - r.taken); err != nil {
			return dst, err
		}
		r.taken = n
	}
	return slices.Grow(dst, n-len(dst)), nil
}

// appendResult appends the value of an evaluation as data.
func (r *room) appendResult(dst []byte, v parser.Value) (_ []byte, err error) {
	dst = append(dst, `{"resultType":"`...)
	dst = append(dst, v.Type()...)
	dst = append(dst, `","result":`...)
	switch v := v.(type) {
	case upstream.Scalar:
		dst = appendPoint(dst, v.T, v.V)
	case upstream.String:
		dst = appendTime(append(dst, '['), v.T)
		dst = appendText(append(dst, ','), v.V)
		dst = append(dst, ']')
	case upstream.Vector:
		dst = append(dst, '[')
		for i := range v {
			if dst, err = r.grow(comma(dst, i), v[i].Metric, 1+bucketsOf(v[i].H)); err != nil {
				return nil, err
			}
			dst = appendLabels(append(dst, `{"metric":`...), v[i].Metric)
			if v[i].H != nil {
				dst = appendHistogram(append(dst, `,"histogram":`...), v[i].T, v[i].H)
			} else {
				dst = appendPoint(append(dst, `,"value":`...), v[i].T, v[i].F)
			}
			dst = append(dst, '}')
		}
		dst = append(dst, ']')
	case upstream.Matrix:
		dst = append(dst, '[')
		for i := range v {
			points := len(v[i].Floats)
			for _, p := range v[i].Histograms {
				points += 1 + bucketsOf(p.H)
			}
			if dst, err = r.grow(comma(dst, i), v[i].Metric, points); err != nil {
				return nil, err
			}
			dst = appendLabels(append(dst, `{"metric":`...), v[i].Metric)
			if len(v[i].Floats) > 0 || len(v[i].Histograms) == 0 {
				dst = append(dst, `,"values":[`...)
				for j, p := range v[i].Floats {
					dst = appendPoint(comma(dst, j), p.T, p.F)
				}
				dst = append(dst, ']')
			}
			if len(v[i].Histograms) > 0 {
				dst = append(dst, `,"histograms":[`...)
				for j, p := range v[i].Histograms {
					dst = appendHistogram(comma(dst, j), p.T, p.H)
				}
				dst = append(dst, ']')
			}
			dst = append(dst, '}')
		}
		dst = append(dst, ']')
	}
	return append(dst, '}'), nil
}

func comma(dst []byte, i int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return dst
}

func appendLabels(dst []byte, l labels.Labels) []byte {
	dst = append(dst, '{')
	i := 0
	l.Range(func(label labels.Label) {
		dst = appendText(comma(dst, i), label.Name)
		dst = appendText(append(dst, ':'), label.Value)
		i++
	})
	return append(dst, '}')
}

// appendText appends a text as JSON. Most have nothing to escape.
func appendText(dst []byte, text string) []byte {
	for i := 0; i < len(text); i++ {
		if c := text[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			quoted, err := json.Marshal(text)
			if err != nil {
				panic("promql: " + err.Error()) // no text fails
			}
			return append(dst, quoted...)
		}
	}
	return append(append(append(dst, '"'), text...), '"')
}

func appendPoint(dst []byte, t int64, v float64) []byte {
	dst = appendTime(append(dst, '['), t)
	return append(appendNumber(append(dst, ','), v), ']')
}

// appendNumber appends a number as a text.
func appendNumber(dst []byte, v float64) []byte {
	if math.IsInf(v, 1) {
		return append(dst, `"+Inf"`...)
	}
	return append(strconv.AppendFloat(append(dst, '"'), v, 'f', -1, 64), '"')
}

// bucketsOf returns the number of buckets of a histogram, 0 for nil.
func bucketsOf(h *histogram.FloatHistogram) int {
	if h == nil {
		return 0
	}
	return 1 + len(h.NegativeBuckets) + len(h.PositiveBuckets)
}

// appendHistogram appends a histogram at a time.
func appendHistogram(dst []byte, t int64, h *histogram.FloatHistogram) []byte {
	dst = appendTime(append(dst, '['), t)
	return append(appendBuckets(append(dst, ','), h), ']')
}

// appendBuckets appends a histogram as Prometheus' API has it: without empty buckets, and each with which of its bounds
// are inside.
func appendBuckets(dst []byte, h *histogram.FloatHistogram) []byte {
	dst = appendNumber(append(dst, `{"count":`...), h.Count)
	dst = appendNumber(append(dst, `,"sum":`...), h.Sum)
	begin := `,"buckets":[[`
	for buckets := h.AllBucketIterator(); buckets.Next(); {
		b := buckets.At()
		if b.Count == 0 {
			continue
		}
		dst = append(dst, begin...)
		inside := byte('2')
		switch {
		case b.LowerInclusive && b.UpperInclusive:
			inside = '3'
		case b.LowerInclusive:
			inside = '1'
		case b.UpperInclusive:
			inside = '0'
		}
		dst = append(dst, inside)
		for _, v := range []float64{b.Lower, b.Upper, b.Count} {
			dst = appendNumber(append(dst, ','), v)
		}
		dst, begin = append(dst, ']'), ",["
	}
	if begin == ",[" {
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// appendTime appends milliseconds as seconds.
func appendTime(dst []byte, t int64) []byte {
	if t < 0 {
		dst, t = append(dst, '-'), -t
	}
	dst = strconv.AppendInt(dst, t/1000, 10)
	if part := t % 1000; part != 0 {
		dst = append(dst, '.', byte('0'+part/100), byte('0'+part/10%10), byte('0'+part%10))
	}
	return dst
}
