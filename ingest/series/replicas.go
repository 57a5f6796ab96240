package series

import (
	"slices"
	"strings"

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
	if metric != nil && w.Pairs.found.CompareAndSwap(nil, &metric.Name) {
		w.Logger.Warn(what, "series", metric.Name)
	}
}
