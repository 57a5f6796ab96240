package model

import "strings"

// SeriesType is the kind of values that a series has.
type SeriesType string

// The types. A series of HistogramType counts the measures up to a bound: it is a bucket of a classic histogram.
const (
	UnknownType   SeriesType = "unknown"
	GaugeType     SeriesType = "gauge"
	CounterType   SeriesType = "counter"
	HistogramType SeriesType = "histogram"
)

// Grows reports whether the values of a series only grow, but for resets.
func (t SeriesType) Grows() bool { return t == CounterType || t == HistogramType }

// typesOfEndings are the types of names that end so, by Prometheus' conventions.
var typesOfEndings = []struct {
	ending string
	of     SeriesType
}{{"_total", CounterType}, {"_count", CounterType}, {"_sum", CounterType}, {"_bucket", HistogramType}}

// TypeOfSeries decides the type of a series by the metadata of its name, or of its family, and else by its name. Kind
// returns the metadata's type of a name in Prometheus' words, "" for none; it may be nil.
func TypeOfSeries(name string, kind func(name string) string) SeriesType {
	if kind == nil {
		kind = func(string) string { return "" }
	}
	byName, family := UnknownType, name
	for _, e := range typesOfEndings {
		if before, ok := strings.CutSuffix(name, e.ending); ok {
			byName, family = e.of, before
		}
	}
	switch kind(name) {
	case "counter":
		return CounterType
	case "gauge", "gaugehistogram", "info", "stateset", "summary":
		return GaugeType // a summary's own name has its quantiles
	}
	if family == name {
		return UnknownType
	}
	switch kind(family) {
	case "gauge", "gaugehistogram":
		return GaugeType
	}
	return byName
}
