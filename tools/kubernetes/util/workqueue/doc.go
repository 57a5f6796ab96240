// Package workqueue has what the engine's tests link: metrics that nobody sets.
package workqueue

// CounterMetric counts.
type CounterMetric interface{ Inc() }

// GaugeMetric goes up and down.
type GaugeMetric interface {
	Inc()
	Dec()
}

// SettableGaugeMetric is set.
type SettableGaugeMetric interface{ Set(float64) }

// HistogramMetric observes.
type HistogramMetric interface{ Observe(float64) }

// SetProvider does nothing.
func SetProvider(any) {}
