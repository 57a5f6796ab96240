package series

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/replica"
	"github.com/gnocco-db/gnocco/model"
)

// usualReplicas are the labels by which Prometheus' operator, and Mimir and Cortex, name replicas.
var usualReplicas = []string{"prometheus_replica", "__replica__"}

// replicaOf takes the labels of Options.Replicas off, and returns the number that their values stand for.
func (w *Writer) replicaOf(labels model.Labels) (model.Labels, replica.Number) {
	var rest []byte
	var names []string
	for name, value := range labels.All() {
		if slices.Contains(w.Replicas, name) {
			names = append(names, value)
		} else {
			rest = model.AppendLabel(rest, name, value)
		}
	}
	if names == nil {
		return labels, 0
	}
	name := strings.Join(names, "\x00")
	number := replica.NumberOf(name)
	if other, _ := w.replicas.LoadOrStore(number, name); other != name {
		w.replicas.Store(number, name)
		w.Logger.Error("two replicas have the same number, so that both count; rename one of them",
			"replica", name, "other", other)
	}
	return model.Labels(rest), number
}

// tellReplicas tells of new series that have a label by which replicas usually differ.
func (w *Writer) tellReplicas(created []*model.Metric) {
	for _, metric := range created {
		for _, label := range usualReplicas {
			if metric.Labels.Get(label) != "" {
				w.tellPair(metric, "replicas are stored as series of their own, and sums count each; "+
					"--replica-labels "+label+" makes them one series")
			}
		}
	}
}

// tellPair logs the first of the series that senders share, and keeps its name. metric may be nil.
func (w *Writer) tellPair(metric *model.Metric, what string) {
	if metric != nil && w.Pairs.found.CompareAndSwap(nil, metric.Name) {
		w.Logger.Warn(what, "series", metric.Name)
	}
}

// Pairs looks for two senders that push the same series: they count double, and counters seem to fall where clocks
// differ. It holds the newest measures of some series, until it found one. Its methods may run at the same time.
type Pairs struct {
	found  atomic.Value // string
	mu     sync.Mutex
	every  byte // one metric in every+1 is looked at: 0, 1, 3, …
	series map[uuid.UUID][]carbonara.Timestamp
}

// mostLookedAt is how many series Pairs looks at, where a 256th of all are no more.
const mostLookedAt = 64

// Found returns a series that senders share without --replica-labels, "" for none.
func (p *Pairs) Found() string {
	found, _ := p.found.Load().(string)
	return found
}

// look returns a metric that two senders seem to push.
func (p *Pairs) look(m *model.Measures) (uuid.UUID, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.series == nil {
		p.series = make(map[uuid.UUID][]carbonara.Timestamp)
	}
	for i, id := range m.Metrics {
		if id[15]&p.every != 0 {
			continue
		}
		times := p.series[id]
		from, to := m.Offsets[i], m.Offsets[i+1]
		for _, t := range m.Timestamps[max(from, to-replica.LeastInterleaved):to] {
			if place, there := slices.BinarySearch(times, t); !there {
				times = slices.Insert(times, place, t)
			}
		}
		times = slices.Delete(times, 0, max(0, len(times)-replica.LeastInterleaved))
		if p.series[id] = times; replica.Interleaved(times) {
			return id, true
		}
	}
	if len(p.series) > mostLookedAt && p.every < 255 {
		p.every = 2*p.every + 1
		maps.DeleteFunc(p.series, func(id uuid.UUID, _ []carbonara.Timestamp) bool { return id[15]&p.every != 0 })
	}
	return uuid.UUID{}, false
}
