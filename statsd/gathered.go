package statsd

import (
	"bytes"
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/ingest/plaintext"
	"github.com/gnocco-db/gnocco/internal/keyhash"
)

// gathered is what came in since the last flush, and what changes of gauges need to know from before.
type gathered struct {
	metrics    [kinds]map[string]*metric // by name
	count      int                       // of metrics
	values     int                       // of timers, and members of sets
	maxMetrics int
	maxValues  int

	gauges map[string]float64  // last values before this flush, maxMetrics at most
	newest carbonara.Timestamp // of a timer's value

	message message // scratch
}

// A metric is the values of one metric.
type metric struct {
	at     carbonara.Timestamp             // of the newest message, but for those with a time of their own; 0: none
	value  float64                         // of a gauge or counter
	timed  map[carbonara.Timestamp]float64 // of these messages
	times  []carbonara.Timestamp
	values []float64             // of a timer, beside times
	set    map[keyhash.Hash]bool // members
}

// newGathered gathers by Gnocchi's names, or by labels.
func newGathered(maxMetrics, maxValues int, labelled bool) *gathered {
	g := &gathered{maxMetrics: maxMetrics, maxValues: maxValues, gauges: map[string]float64{}}
	g.message.labelled = labelled
	g.clear()
	return g
}

func (g *gathered) clear() {
	g.count, g.values = 0, 0
	for kind := range g.metrics {
		g.metrics[kind] = make(map[string]*metric)
	}
}

// measures are what a flush stores: all values of a timer, one of any other metric.
func (m *metric) measures() iter.Seq2[carbonara.Timestamp, float64] {
	return func(yield func(carbonara.Timestamp, float64) bool) {
		switch {
		case m.set != nil:
			yield(m.at, float64(len(m.set)))
			return
		case m.times == nil:
			for _, at := range slices.Sorted(maps.Keys(m.timed)) {
				if at != m.at && !yield(at, m.timed[at]) {
					return
				}
			}
			if m.at > 0 {
				yield(m.at, m.value)
			}
			return
		}
		for i, at := range m.times {
			if !yield(at, m.values[i]) {
				return
			}
		}
	}
}

// drain returns the gathered metrics, and begins anew. The last values of gauges stay known, but for some of those that
// did not come in where there are too many; it returns their number.
func (g *gathered) drain() (metrics [kinds]map[string]*metric, forgotten int) {
	metrics = g.metrics
	g.clear()
	for name, m := range metrics[gauge] {
		if m.at > 0 {
			g.gauges[name] = m.value
		}
	}
	for name := range g.gauges {
		if len(g.gauges) <= g.maxMetrics {
			break
		}
		if metrics[gauge][name] == nil {
			delete(g.gauges, name)
			forgotten++
		}
	}
	return metrics, forgotten
}

// datagram adds the messages of a datagram, and calls refuse with the reason of each that it refuses.
func (g *gathered) datagram(data []byte, at carbonara.Timestamp, refuse func(reason string)) (accepted int) {
	if len(data) > maxDatagramBytes { // the kernel has cut it
		refuse(reasonCut)
		data = data[:max(bytes.LastIndexByte(data, '\n'), bytes.LastIndexByte(data, '\r'), 0)]
	}
	for _, line := range plaintext.Lines(data) {
		if len(line) == 0 {
			continue
		}
		reason := g.message.parse(line)
		if reason == "" {
			reason = g.add(&g.message, at)
		}
		if reason != "" {
			refuse(reason)
			continue
		}
		accepted++
	}
	return accepted
}

// add adds a message; if it cannot, it returns the reason.
func (g *gathered) add(m *message, at carbonara.Timestamp) (reason string) {
	kept := g.metrics[m.kind][string(m.name)]
	isNew := kept == nil
	if isNew {
		if g.count == g.maxMetrics {
			return reasonMany
		}
		if m.labelled && g.hasOtherKind(m) {
			return reasonType
		}
		kept = new(metric)
		if m.kind == gauge {
			kept.value = g.gauges[string(m.name)]
		}
	}
	switch {
	case m.at != 0:
		if reason := g.addTimed(kept, m, at); reason != "" {
			return reason
		}
		at = kept.at
	case m.kind <= counter:
		sum := kept.value
		for _, v := range m.values {
			if m.kind == gauge && !v.change {
				sum = 0
			}
			sum += v.number
		}
		if math.IsInf(sum, 0) {
			return reasonValue
		}
		kept.value = sum
	default:
		if g.values+len(m.values) > g.maxValues {
			return reasonMany
		}
		if m.kind == timer {
			g.addTimes(kept, m.values, at)
		} else {
			g.addMembers(kept, m.values)
		}
	}
	kept.at = at
	if isNew {
		g.metrics[m.kind][string(m.name)] = kept
		g.count++
	}
	return ""
}

// addTimed adds the values of a message with a time of its own: a counter's are added up, of a gauge's the last counts.
func (g *gathered) addTimed(kept *metric, m *message, now carbonara.Timestamp) (reason string) {
	_, known := kept.timed[m.at]
	switch {
	case m.at > now.Add(ingest.MaxFutureOfSenders):
		return reasonTime
	case !known && g.values >= g.maxValues:
		return reasonMany
	}
	sum := kept.timed[m.at]
	for _, v := range m.values {
		if m.kind == gauge {
			sum = 0
		}
		sum += v.number
	}
	if math.IsInf(sum, 0) {
		return reasonValue
	}
	if !known {
		g.values++
	}
	if kept.timed == nil {
		kept.timed = map[carbonara.Timestamp]float64{}
	}
	kept.timed[m.at] = sum
	return ""
}

// hasOtherKind reports whether the labels of m are those of another kind: one series cannot hold both.
func (g *gathered) hasOtherKind(m *message) bool {
	for kind := range g.metrics {
		if g.metrics[kind][string(m.name)] != nil {
			return true
		}
	}
	return false
}

// addTimes adds a timer's values. Each has a time of its own, as of equal ones the store keeps the last: a nanosecond
// after the one before, where more than one come in at once. Where the clock was set back, the times follow it.
func (g *gathered) addTimes(kept *metric, values []value, at carbonara.Timestamp) {
	for _, v := range values {
		if at <= g.newest && time.Duration(g.newest-at) < time.Second {
			at = g.newest + 1
		}
		g.newest = at
		kept.times, kept.values = append(kept.times, at), append(kept.values, v.number)
	}
	g.values += len(values)
}

// addMembers adds members of a set.
func (g *gathered) addMembers(kept *metric, values []value) {
	if kept.set == nil {
		kept.set = map[keyhash.Hash]bool{}
	}
	g.values -= len(kept.set)
	for _, v := range values {
		kept.set[keyhash.Of(v.element)] = true
	}
	g.values += len(kept.set)
}
