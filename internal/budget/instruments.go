package budget

import "github.com/prometheus/client_golang/prometheus"

// instrument registers the budget's metrics.
func (b *Budget) instrument(registerer prometheus.Registerer) {
	refused := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "gnocco_memory_refused_total", Help: "Times that a request was refused the memory that it needs, by use. Those for answers wait for it.",
	}, []string{"use"})
	var collectors []prometheus.Collector
	for use, name := range useNames {
		b.refused[use] = refused.WithLabelValues(name)
		collectors = append(collectors, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "gnocco_memory_used_bytes", Help: "Memory that requests hold of their budget, by use.",
			ConstLabels: prometheus.Labels{"use": name},
		}, func() float64 {
			b.mu.Lock()
			defer b.mu.Unlock()
			return float64(b.used[use])
		}))
	}
	if registerer == nil {
		return
	}
	limit := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "gnocco_memory_budget_bytes", Help: "Memory that requests may hold together.",
	})
	limit.Set(float64(b.limit))
	registerer.MustRegister(append(collectors, refused, limit)...)
}
