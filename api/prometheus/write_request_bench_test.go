package prometheus_test

import (
	"fmt"
	"testing"

	"github.com/gnocco-db/gnocco/api/prometheus"
	"github.com/gnocco-db/gnocco/carbonara"
)

// BenchmarkDecode decodes what Prometheus sends in one request by default, 2,000 measures, and makes the keys.
func BenchmarkDecode(b *testing.B) {
	const measures = 2000
	for _, perSeries := range []int{1, 10} {
		b.Run(fmt.Sprintf("measures_per_series=%d", perSeries), func(b *testing.B) {
			var all []series
			for i := range measures / perSeries {
				s := series{labels: []string{"__name__", fmt.Sprintf("node_cpu_seconds_total_%d", i/10), "cpu",
					fmt.Sprint(i % 10), "instance", "machine-17.example.org:9100", "job", "node", "mode", "idle"}}
				for j := range perSeries {
					s.times, s.values = append(s.times, 1_700_000_000_000+int64(15_000*j)), append(s.values,
						float64(i*j)/7)
				}
				all = append(all, s)
			}
			body := compress(appendMessage(nil, all...))
			r := prometheus.WriteRequest{Latest: carbonara.MaxTimestamp}
			var key []byte
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if err := r.Decode(body, limit); err != nil || r.Len() != measures/perSeries {
					b.Fatal(r.Len(), err)
				}
				for i := range r.Len() {
					key = r.AppendKey(key[:0], i)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/measures, "ns/measure")
		})
	}
}
