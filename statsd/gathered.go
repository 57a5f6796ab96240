package statsd

import (
	"bytes"

	"gnocco/carbonara"
)

// gathered is what came in since the last flush.
type gathered struct {
	measures [kinds]map[string]*measure // by name in the message
	metrics  int
	limit    int // most metrics
}

type measure struct {
	at    carbonara.Timestamp
	value float64
}

func newGathered(limit int) *gathered {
	g := &gathered{limit: limit}
	for kind := range g.measures {
		g.measures[kind] = make(map[string]*measure)
	}
	return g
}

// datagram adds the messages of a datagram, and calls refuse with the reason of each that it refuses.
func (g *gathered) datagram(data []byte, at carbonara.Timestamp, refuse func(reason string)) (accepted int) {
	for line := range bytes.SplitSeq(data, []byte{'\n'}) {
		if len(line) == 0 {
			continue
		}
		m, reason := parseMessage(line)
		if reason == "" && !g.add(m, at) {
			reason = reasonMany
		}
		if reason != "" {
			refuse(reason)
			continue
		}
		accepted++
	}
	return accepted
}

// add adds a message, unless it is of one metric too many.
func (g *gathered) add(m message, at carbonara.Timestamp) bool {
	kept := g.measures[m.kind][string(m.name)]
	if kept == nil {
		if g.metrics == g.limit {
			return false
		}
		g.metrics++
		kept = new(measure)
		g.measures[m.kind][string(m.name)] = kept
	}
	if m.kind == counter {
		m.value += kept.value
	}
	*kept = measure{at, m.value}
	return true
}
