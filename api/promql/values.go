package promql

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
)

// appendResult appends the value of an evaluation as data.
func (s *stream) appendResult(v parser.Value) error {
	s.body = append(append(append(s.body, `{"resultType":"`...), v.Type()...), `","result":`...)
	switch v := v.(type) {
	case upstream.Scalar:
		s.body = appendPoint(s.body, v.T, v.V)
	case upstream.String:
		s.body = appendText(append(appendTime(append(s.body, '['), v.T), ','), v.V)
		s.body = append(s.body, ']')
	case upstream.Vector:
		s.body = append(s.body, '[')
		for i := range v {
			s.body = appendLabels(append(comma(s.body, i), `{"metric":`...), v[i].Metric)
			if v[i].H != nil {
				s.body = appendHistogram(append(s.body, `,"histogram":`...), v[i].T, v[i].H)
			} else {
				s.body = appendPoint(append(s.body, `,"value":`...), v[i].T, v[i].F)
			}
			s.body = append(s.body, '}')
			if err := s.piece(); err != nil {
				return err
			}
		}
		s.body = append(s.body, ']')
	case upstream.Matrix:
		s.body = append(s.body, '[')
		for i := range v {
			s.body = appendLabels(append(comma(s.body, i), `{"metric":`...), v[i].Metric)
			if len(v[i].Floats) > 0 || len(v[i].Histograms) == 0 {
				s.body = append(s.body, `,"values":[`...)
				for j, p := range v[i].Floats {
					s.body = appendPoint(comma(s.body, j), p.T, p.F)
					if err := s.piece(); err != nil {
						return err
					}
				}
				s.body = append(s.body, ']')
			}
			if len(v[i].Histograms) > 0 {
				s.body = append(s.body, `,"histograms":[`...)
				for j, p := range v[i].Histograms {
					s.body = appendHistogram(comma(s.body, j), p.T, p.H)
					if err := s.piece(); err != nil {
						return err
					}
				}
				s.body = append(s.body, ']')
			}
			s.body = append(s.body, '}')
		}
		s.body = append(s.body, ']')
	}
	s.body = append(s.body, '}')
	return nil
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
	dst = append(dst, '"')
	if whole := int64(v); float64(whole) == v && whole != 0 && v > -1<<53 && v < 1<<53 { // the same text, sooner
		return append(strconv.AppendInt(dst, whole, 10), '"')
	}
	return append(strconv.AppendFloat(dst, v, 'f', -1, 64), '"')
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
