package model

import (
	"strconv"
	"strings"
)

// LabelHistogram is the label by which the parts of a native histogram differ. Each part is a series of numbers. A
// histogram is the parts that have a measure at one time; a bucket without one is empty.
const LabelHistogram = "__histogram__"

// HistogramPart is the value of LabelHistogram.
type HistogramPart struct {
	Gauge bool // the histogram is a gauge: its buckets do not only grow
	Kind  HistogramPartKind
	// Schema is that of buckets and the zero bucket: bounds are powers of 2^(2^-Schema).
	Schema, Index int32
	Bound         float64 // the upper bound of a custom bucket, or the threshold of the zero bucket
}

// HistogramPartKind says which part of a histogram a series is.
type HistogramPartKind uint8

// The kinds. Each histogram has one of the first two, and a zero bucket or a custom bucket up to infinity.
const (
	HistogramCount HistogramPartKind = iota
	HistogramSum
	HistogramZero
	HistogramNegative
	HistogramPositive
	HistogramCustom
)

var histogramPartKinds = [...]string{"count", "sum", "zero", "negative", "positive", "custom"}

const gaugePrefix = "gauge:"

// Append appends the part as text: "count", "gauge:zero:3:0.001" or "positive:3:-12".
func (p HistogramPart) Append(dst []byte) []byte {
	if p.Gauge {
		dst = append(dst, gaugePrefix...)
	}
	dst = append(dst, histogramPartKinds[p.Kind]...)
	switch p.Kind {
	case HistogramZero:
		dst = strconv.AppendInt(append(dst, ':'), int64(p.Schema), 10)
		dst = strconv.AppendFloat(append(dst, ':'), p.Bound, 'g', -1, 64)
	case HistogramNegative, HistogramPositive:
		dst = strconv.AppendInt(append(dst, ':'), int64(p.Schema), 10)
		dst = strconv.AppendInt(append(dst, ':'), int64(p.Index), 10)
	case HistogramCustom:
		dst = strconv.AppendFloat(append(dst, ':'), p.Bound, 'g', -1, 64)
	}
	return dst
}

// ParseHistogramPart reads the text of a part.
func ParseHistogramPart(text string) (p HistogramPart, ok bool) {
	text, p.Gauge = strings.CutPrefix(text, gaugePrefix)
	fields := strings.Split(text, ":")
	for kind, name := range histogramPartKinds {
		if fields[0] != name {
			continue
		}
		p.Kind = HistogramPartKind(kind)
		return p, p.parse(fields[1:])
	}
	return p, false
}

func (p *HistogramPart) parse(fields []string) (ok bool) {
	number := func(text string) int32 {
		n, err := strconv.ParseInt(text, 10, 32)
		ok = ok && err == nil
		return int32(n)
	}
	bound := func(text string) float64 {
		v, err := strconv.ParseFloat(text, 64)
		ok = ok && err == nil && v == v
		return v
	}
	switch ok = true; p.Kind {
	case HistogramCount, HistogramSum:
		return len(fields) == 0
	case HistogramCustom:
		if len(fields) != 1 {
			return false
		}
		p.Bound = bound(fields[0])
		return ok
	}
	if len(fields) != 2 {
		return false
	}
	if p.Schema = number(fields[0]); p.Kind == HistogramZero {
		p.Bound = bound(fields[1])
	} else {
		p.Index = number(fields[1])
	}
	return ok
}

// TypeOfLabels is TypeOfSeries of all labels: parts of native histograms say themselves what they are.
func TypeOfLabels(labels Labels, kind func(name string) string) SeriesType {
	t, _ := typeOfLabels(labels, kind)
	return t
}

func typeOfLabels(labels Labels, kind func(name string) string) (SeriesType, TypeSource) {
	switch part := labels.Get(LabelHistogram); {
	case strings.HasPrefix(part, gaugePrefix):
		return GaugeType, TypeByMetadata
	case part != "":
		return HistogramType, TypeByMetadata
	}
	return typeOfSeries(labels.Get(LabelName), kind)
}
