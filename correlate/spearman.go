package correlate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gnocco-db/gnocco/internal/parallel"
)

// RunSpearman is Run on the ranks of values: equal values share the mean of their ranks. A pair's ranks are those among
// the rows that both columns have, at the lag looked at. Columns are held in memory: more of them than the bound are an
// error.
func RunSpearman(ctx context.Context, source Source, options Options, each func(Pair) error) (Result, error) {
	options.Columns = source.Columns()
	options.EnsureDefaults()
	if err := options.Validate(); err != nil {
		return Result{}, err
	}
	whole := options
	whole.MaxLag = 0
	if b, err := whole.bandFrom(0, blockBytes); err != nil {
		return Result{}, err
	} else if b != wholeBand(options.Columns) {
		return Result{}, fmt.Errorf(
			"correlate: the pairs of %d columns do not fit into %d MiB of memory, which ranks need",
			options.Columns, options.MemoryBytes>>20)
	}
	values, err := load(ctx, source, options.MemoryBytes)
	if err != nil {
		return Result{}, err
	}
	ranked := make([]ranking, len(values))
	inRuns(options.Workers, len(values), func(j int) { ranked[j] = rank(values[j]) })

	// Pairs without gaps and lag share their columns' ranks, so they are Pearson's coefficients of those.
	plain := make(Values, len(values))
	for j := range plain {
		plain[j] = ranked[j].ranks
	}
	m := newMatrix(whole, wholeBand(options.Columns))
	if err := plain.Read(ctx, func(columns [][]float64) error { return m.Add(ctx, columns) }); err != nil {
		return Result{}, err
	}
	if err := m.Finish(ctx); err != nil {
		return Result{}, err
	}
	result := Result{Rows: int64(len(values[0])), Constant: m.Constant(), Passes: 1}
	row := make([]Pair, len(values))
	for i := range values {
		if ctx.Err() != nil {
			return result, ctx.Err()
		}
		inRuns(options.Workers, len(values)-i-1, func(k int) {
			j := i + 1 + k
			row[j] = m.Pair(i, j)
			if options.MaxLag > 0 || ranked[i].gaps || ranked[j].gaps {
				row[j] = bestRanked(&ranked[i], &ranked[j], Pair{I: i, J: j}, &options)
			}
		})
		for _, p := range row[i+1:] {
			if err := each(p); err != nil {
				return result, err
			}
		}
	}
	return result, nil
}

// RankBytes is what a value takes in RunSpearman: itself, its rank, its place in the order.
const RankBytes = 8 + 8 + 8

// load reads all of source.
func load(ctx context.Context, source Source, most int64) (Values, error) {
	values := make(Values, source.Columns())
	err := source.Read(ctx, func(columns [][]float64) error {
		for j := range values {
			values[j] = append(values[j], columns[j]...)
		}
		if bytes := int64(len(values)) * int64(len(values[0])) * RankBytes; bytes > most {
			return fmt.Errorf(
				"correlate: the ranks of more than %d rows of %d columns do not fit into %d MiB of memory",
				len(values[0]), len(values), most>>20)
		}
		return nil
	})
	return values, err
}

// ranking is a column's values in order.
type ranking struct {
	values []float64
	order  []int     // rows by value, those without one left out
	ranks  []float64 // from 1 on; NaN for missing
	gaps   bool
}

func rank(values []float64) ranking {
	r := ranking{values: values, ranks: make([]float64, len(values))}
	r.order = make([]int, 0, len(values))
	for t, v := range values {
		r.ranks[t] = math.NaN()
		if v-v == 0 {
			r.order = append(r.order, t)
		}
	}
	r.gaps = len(r.order) < len(values)
	slices.SortFunc(r.order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	r.among(func(int) bool { return true }, r.ranks)
	return r
}

// among sets ranks of the rows that has tells to those among them, and returns how many there are.
func (r *ranking) among(has func(row int) bool, ranks []float64) (n int) {
	var equal []int
	flush := func() {
		for _, t := range equal {
			ranks[t] = float64(n) - float64(float64(len(equal)-1)/2)
		}
		equal = equal[:0]
	}
	for _, t := range r.order {
		if !has(t) {
			continue
		}
		if len(equal) > 0 && r.values[equal[0]] != r.values[t] {
			flush()
		}
		equal = append(equal, t)
		n++
	}
	flush()
	return n
}

// bestRanked looks at all lags of a pair.
func bestRanked(x, y *ranking, p Pair, o *Options) Pair {
	ranksX, ranksY := make([]float64, len(x.values)), make([]float64, len(y.values))
	for k := range 2*o.MaxLag + 1 {
		lag := (k + 1) / 2
		if k%2 == 0 {
			lag = -lag
		}
		q := Pair{I: p.I, J: p.J, Lag: lag}
		both := func(t int) bool { // a row of x
			u := t + lag
			if t < 0 || t >= len(x.values) || u < 0 || u >= len(y.values) {
				return false
			}
			return x.values[t]-x.values[t] == 0 && y.values[u]-y.values[u] == 0
		}
		n := x.among(both, ranksX)
		y.among(func(u int) bool { return both(u - lag) }, ranksY)
		mean := float64(float64(n+1) / 2) // of the ranks, exactly, without fused operations
		var xx, yy, xy float64
		for t := range ranksX {
			if both(t) {
				dx, dy := ranksX[t]-mean, ranksY[t+lag]-mean
				xx, yy, xy = xx+float64(dx*dx), yy+float64(dy*dy), xy+float64(dx*dy)
			}
		}
		q.Overlap, q.R = int64(n), math.NaN()
		if n >= o.MinOverlap {
			q.R = coefficient(xy, xx, yy)
		}
		if k == 0 || q.Strength() > p.Strength() {
			p = q
		}
	}
	return p
}

// inRuns calls f for 0 to n-1, on so many goroutines. Each takes a run of calls, as one may take only nanoseconds.
func inRuns(workers, n int, f func(int)) {
	run := max(1, n/(4*workers))
	_ = parallel.Each(workers, (n+run-1)/run, func(k int) error {
		for i := k * run; i < min((k+1)*run, n); i++ {
			f(i)
		}
		return nil
	})
}
