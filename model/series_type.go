package model

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gnocco-db/gnocco/carbonara"
)

// SeriesType is the kind of values that a series has.
type SeriesType string

// The types. A series of HistogramType counts the measures up to a bound: it is a bucket of a classic histogram.
const (
	UnknownType   SeriesType = "unknown"
	GaugeType     SeriesType = "gauge"
	CounterType   SeriesType = "counter"
	HistogramType SeriesType = "histogram"
)

// ParseSeriesType returns the type of this name.
func ParseSeriesType(text string) (SeriesType, error) {
	for _, t := range []SeriesType{CounterType, GaugeType, HistogramType, UnknownType} {
		if text == string(t) {
			return t, nil
		}
	}
	return "", fmt.Errorf("must be one of %s, %s, %s, %s", CounterType, GaugeType, HistogramType, UnknownType)
}

// Grows reports whether the values of a series only grow, but for resets.
func (t SeriesType) Grows() bool { return t == CounterType || t == HistogramType }

// TypeSource says what a type follows from.
type TypeSource string

// The sources. Types by name and by values are guesses.
const (
	TypeIsSet      TypeSource = "set" // by a client, of this metric
	TypeByMetadata TypeSource = "metadata"
	TypeByName     TypeSource = "name"
	TypeByValues   TypeSource = "values"
	TypeIsUnknown  TypeSource = ""
)

// IsGuess reports whether nobody said so.
func (s TypeSource) IsGuess() bool { return s == TypeByName || s == TypeByValues }

// ComparedBy returns the method by which measures of a metric of type t are compared with those of others: increases of
// a counter, where its archive policy has them. grows reports whether its values only grow.
func (m *Metric) ComparedBy(method carbonara.Method, t SeriesType) (by carbonara.Method, grows bool) {
	if grows = t.Grows() && method.IsLevel(); grows && m.ArchivePolicy.HasMethod(carbonara.Increase) {
		return carbonara.Increase, true
	}
	return method, grows
}

// TypeOf decides the type of a metric: the one that was set, or else by metadata and name. Kind is as TypeOfSeries
// takes it.
func TypeOf(m *Metric, kind func(name string) string) (SeriesType, TypeSource) {
	if m.Type != "" {
		return m.Type, TypeIsSet
	}
	if m.Labels == "" {
		if isCeilometersCounter(m.Name, m.Unit) {
			return CounterType, TypeByName
		}
		return typeByName(m.Name)
	}
	return typeOfLabels(m.Labels, kind)
}

// TypeOfSeries decides the type of a series by the metadata of its name, or of its family, and else by its name. Kind
// returns the metadata's type of a name in Prometheus' words, "" for none; it may be nil.
func TypeOfSeries(name string, kind func(name string) string) SeriesType {
	t, _ := typeOfSeries(name, kind)
	return t
}

func typeOfSeries(name string, kind func(name string) string) (SeriesType, TypeSource) {
	byName, source := typeByName(name)
	if kind == nil {
		return byName, source
	}
	switch kind(name) {
	case "counter":
		return CounterType, TypeByMetadata
	case "gauge", "gaugehistogram", "info", "stateset", "summary":
		return GaugeType, TypeByMetadata // a summary's own name has its quantiles
	}
	if source == TypeIsUnknown {
		return UnknownType, TypeIsUnknown
	}
	switch kind(name[:strings.LastIndexByte(name, '_')]) {
	case "gauge", "gaugehistogram":
		return GaugeType, TypeByMetadata
	case "counter", "histogram", "summary":
		return byName, TypeByMetadata
	}
	return byName, source
}

// typesOfEndings are the types of names that end so, by Prometheus' conventions.
var typesOfEndings = []struct {
	ending string
	of     SeriesType
}{{"_total", CounterType}, {"_count", CounterType}, {"_sum", CounterType}, {"_bucket", HistogramType}}

func typeByName(name string) (SeriesType, TypeSource) {
	for _, e := range typesOfEndings {
		if strings.HasSuffix(name, e.ending) {
			return e.of, TypeByName
		}
	}
	return UnknownType, TypeIsUnknown
}

// ceilometersCounters are the meters that Ceilometer calls cumulative, as patterns of their names, by unit.
var ceilometersCounters = map[string][]string{
	"ns":      {"cpu", "disk*.latency"},
	"B":       {"disk*.read.bytes", "disk*.write.bytes", "network.*.bytes", "hardware.network.*.bytes"},
	"request": {"disk*.requests"},
	"packet":  {"network.*.packets", "network.*.packets.drop", "network.*.packets.error"},
}

// isCeilometersCounter reports whether a name and unit are those of a meter that Ceilometer calls cumulative. Its
// publisher sends both, and not the meter's type.
func isCeilometersCounter(name, unit string) bool {
	matches := func(pattern string) bool { return MatchPattern(pattern, name) }
	return slices.ContainsFunc(ceilometersCounters[unit], matches)
}

// manyRises of a series that never falls make it a counter, also where most of its steps are 0.
const manyRises = 8

// GrowsByValues reports whether values look like a counter's, by those of them that are numbers: they rise in at least
// half of the first n steps, or often, and never fall, but for few that begin again below half of the value before. It
// is a guess.
func GrowsByValues(values []float64, n int) bool {
	rises, steps, never := countRises(values, n)
	return steps > 0 && (2*rises >= steps || rises >= manyRises) && never
}

// NeverFalls reports whether values never fall, but for few that begin again below half of the value before.
func NeverFalls(values []float64) bool {
	_, _, never := countRises(values, len(values))
	return never
}

// countRises returns how many of the first n steps of values rise, how many there are, and NeverFalls of all.
func countRises(values []float64, n int) (rises, steps int, never bool) {
	all, resets := 0, 0
	last := math.NaN()
	for i, v := range values {
		if v != v {
			continue
		}
		switch {
		case v > last:
			if all++; i < n {
				rises++
			}
		case v < last/2 && v >= 0:
			resets++
		case v < last:
			return 0, 0, false
		}
		if i < n && last == last {
			steps++
		}
		last = v
	}
	return rises, steps, resets <= all/10
}

// Metadata describes the pushed series of a name. Kind is a type in Prometheus' words.
type Metadata struct{ Name, Kind, Help, Unit string }
