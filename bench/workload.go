package bench

import (
	"math/rand/v2"
	"time"

	"github.com/gnocco-db/gnocco/bench/pattern"
)

// firstMeasure is the timestamp of every workload's first measure: midnight, so that groups are whole.
var firstMeasure = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// timestampFormat is how requests write a time.
const timestampFormat = "2006-01-02T15:04:05.999999999"

// defaultStep lies between two measures of a series.
const defaultStep = 10 * time.Second

// meters are the patterns of the series of one instance.
var meters = [20]pattern.Pattern{
	pattern.Counter, pattern.Gauge, pattern.Counter, pattern.Constant, pattern.Counter, pattern.Gauge, pattern.Counter,
	pattern.Percentage, pattern.Sparse, pattern.Counter,
	pattern.Gauge, pattern.Constant, pattern.Counter, pattern.Gauge, pattern.Percentage, pattern.Counter,
	pattern.Constant, pattern.Gauge, pattern.Counter, pattern.Sparse,
}

// workload is what is sent: series with one measure every step, all at the same times.
type workload struct {
	start time.Time
	step  time.Duration
	// values at [s][i] is the measure of series s at start + i × step.
	values [][]float64
}

// newWorkload makes n series of that many measures; series s runs as patterns[s % len(patterns)] and depends on the
// seed and s only.
func newWorkload(seed uint64, patterns []pattern.Pattern, n, measures int, step time.Duration) *workload {
	w := &workload{start: firstMeasure, step: step, values: make([][]float64, n)}
	memory := make([]float64, 0, n*measures)
	for s := range w.values {
		from := len(memory)
		memory = patterns[s%len(patterns)].Append(memory, measures, rand.New(rand.NewPCG(seed, uint64(s))))
		w.values[s] = memory[from:len(memory):len(memory)]
	}
	return w
}

// time returns the timestamp of the i-th measures.
func (w *workload) time(i int) time.Time { return w.start.Add(time.Duration(i) * w.step) }

// measures returns how many there are in all.
func (w *workload) measures() int {
	n := 0
	for _, v := range w.values {
		n += len(v)
	}
	return n
}

// prefix returns the same series with their first n measures only.
func (w *workload) prefix(n int) *workload {
	p := &workload{start: w.start, step: w.step, values: make([][]float64, len(w.values))}
	for s := range w.values {
		p.values[s] = w.values[s][:n]
	}
	return p
}

// groups returns how many aggregates of one method all series have at the granularity.
func (w *workload) groups(granularity time.Duration) int {
	n := 0
	for _, v := range w.values {
		n += len(w.expect(v, granularity))
	}
	return n
}
