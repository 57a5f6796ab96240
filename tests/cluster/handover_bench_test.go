package cluster_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"
)

// readers read a metric each, over and over, and remember the longest that one had to wait for its answer.
type readers struct {
	done    chan struct{}
	running sync.WaitGroup
	mu      sync.Mutex
	longest time.Duration
	refused int // answers 503
}

func startReaders(b *testing.B, p *process, metrics []string) *readers {
	r := &readers{done: make(chan struct{})}
	for _, metric := range metrics {
		r.running.Go(func() {
			waiting := time.Now() // since the last good answer
			for {
				select {
				case <-r.done:
					return
				default:
				}
				status, _, answer, err := p.do(http.MethodGet, "/v1/metric/"+metric+"/measures?aggregation=sum", "")
				if err != nil || status != http.StatusOK && status != http.StatusServiceUnavailable {
					b.Errorf("read: %d %s %v", status, answer, err)
					return
				}
				r.mu.Lock()
				if status == http.StatusOK {
					r.longest, waiting = max(r.longest, time.Since(waiting)), time.Now()
				} else {
					r.refused++
				}
				r.mu.Unlock()
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
	return r
}

// since returns the longest wait since the last call, in milliseconds.
func (r *readers) since() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	longest := r.longest
	r.longest = 0
	return longest.Seconds() * 1000
}

// BenchmarkHandover is how long a reader of a sack waits at most while a second metricd comes, goes, comes and is
// killed. "steady" is the longest wait without a change, the machine's own part.
func BenchmarkHandover(b *testing.B) {
	data := b.TempDir()
	api := start(b, data, "api")
	metrics := newMetrics(b, api, 16)
	start(b, data, "metricd")
	for i, metric := range metrics {
		api.mustDo(http.MethodPost, "/v1/metric/"+metric+"/measures",
			fmt.Sprintf(`[{"timestamp": %d, "value": 1}]`, firstSecond+i), http.StatusAccepted)
	}
	for _, metric := range metrics {
		aggregates(b, api, metric, "count")
	}
	r := startReaders(b, api, metrics)
	waits := map[string]float64{}
	step := func(name string, change func()) {
		r.since()
		change()
		time.Sleep(1500 * time.Millisecond)
		waits[name] += r.since()
	}
	rounds := 0.0
	for b.Loop() {
		rounds++
		step("steady", func() {})
		var other *process
		step("join", func() { other = start(b, data, "metricd") })
		step("leave", func() { other.stop() })
		other = start(b, data, "metricd")
		time.Sleep(time.Second)
		step("kill", func() { other.kill() })
	}
	close(r.done)
	r.running.Wait()
	for name, sum := range waits {
		b.ReportMetric(sum/rounds, "ms-"+name)
	}
	b.ReportMetric(float64(r.refused), "refused")
}
