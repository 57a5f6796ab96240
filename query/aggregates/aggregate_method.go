package aggregates

import (
	"context"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/compensated"
	"github.com/gnocco-db/gnocco/internal/parallel"
)

// acrossMethod aggregates values that stand side by side, of several series at one time, or of one series in a window.
// It leaves NaN out.
type acrossMethod struct {
	base   acrossBase
	rate   bool             // difference of consecutive results
	method carbonara.Method // of acrossPercentile and acrossFold
}

type acrossBase uint8

const (
	acrossMean acrossBase = iota
	acrossMedian
	acrossStd
	acrossMin
	acrossMax
	acrossSum
	acrossVar
	acrossCount
	acrossPercentile // in a Combination, of all measures
	acrossFold       // in a Combination only
)

var acrossNames = []string{"mean", "median", "std", "min", "max", "sum", "var", "count"}

func parseAcrossMethod(name string) (acrossMethod, bool) {
	base, rate := strings.CutPrefix(name, "rate:")
	if m, err := carbonara.ParseMethod(name); err == nil && m.Percentile() > 0 && !rate {
		return acrossMethod{base: acrossPercentile, method: m}, true
	} else if err == nil && m.IsFold() {
		return acrossMethod{base: acrossFold, method: m}, true
	}
	i := slices.Index(acrossNames, base)
	return acrossMethod{base: acrossBase(max(i, 0)), rate: rate}, i >= 0
}

// String returns the method's name.
func (m acrossMethod) String() string {
	if m.base >= acrossPercentile {
		return m.method.String()
	}
	if m.rate {
		return "rate:" + acrossNames[m.base]
	}
	return acrossNames[m.base]
}

// keepsBoolean reports whether the result of booleans is one.
func (m acrossMethod) keepsBoolean() bool { return m.base == acrossMin || m.base == acrossMax }

// state is what the values of one row, or of one window, have come to so far.
type state struct {
	count float64 // of values that are not NaN
	sum   compensated.Sum
	best  float64 // the least or the greatest so far; NaN if there is none
}

var empty = state{best: nan}

func (m acrossMethod) add(s *state, v float64) {
	if v != v {
		return
	}
	s.count++
	switch m.base {
	case acrossMin:
		if !(s.best <= v) {
			s.best = v
		}
	case acrossMax:
		if !(s.best >= v) {
			s.best = v
		}
	default:
		s.sum = s.sum.Plus(v)
	}
}

// result is the method's answer; for std and var, whose squares need it first, the mean.
func (m acrossMethod) result(s *state) float64 {
	switch m.base {
	case acrossMin, acrossMax:
		return s.best
	case acrossSum:
		return s.sum.Float()
	case acrossCount:
		return s.count
	}
	return s.sum.Float() / s.count // 0/0 is NaN
}

// spread finishes std and var: squares is the sum of the squared distances from the mean.
func (m acrossMethod) spread(squares, count float64) float64 {
	if squares /= count; m.base == acrossStd {
		return math.Sqrt(squares)
	}
	return squares
}

func (m acrossMethod) squares() bool { return m.base == acrossStd || m.base == acrossVar }

// sideBySide calls f for parts of so many rows, on all cores.
func sideBySide(rows int, f func(from, to int) error) error {
	const least = 512 // rows of a part: shorter reads of a column cost more each
	parts := max(1, parallel.Workers(rows/least))
	return parallel.Each(parts, parts, func(i int) error { return f(rows*i/parts, rows*(i+1)/parts) })
}

// aggregate returns one column: the aggregate of all columns, row by row.
func (e *evaluator) aggregate(n *node) (*columns, error) {
	if n.across.base == acrossFold {
		return nil, fail("%s of several metrics follows from their measures: ask with exact=true", n.across)
	}
	before := e.across
	e.across = true
	in, err := e.columns(n.operands[0])
	e.across = before
	if err != nil {
		return nil, err
	}
	results := make([]float64, len(in.times))
	if n.across.base == acrossMedian || n.across.base == acrossPercentile {
		err = e.percentiles(n.across, in, results)
	} else {
		err = n.across.accumulate(results, len(in.series), func(fold func(int, []float64)) error {
			return e.eachColumn(in, fold)
		})
	}
	if err != nil {
		return nil, err
	}
	out := &columns{
		granularity: in.granularity, times: in.times, series: []int{-1}, aggregated: true,
		boolean: in.boolean && n.across.keepsBoolean(),
	}
	if n.across.rate {
		out.times = withoutFirst(in.times)
		difference(results, results[:len(out.times)], out.boolean)
		results = results[:len(out.times)]
	}
	out.reader = func() reader {
		return func(_, from int, dst []float64) error {
			copy(dst, results[from:])
			return nil
		}
	}
	return out, nil
}

// eachColumn calls fold with the values of every column from a row on, for each row in the order of columns. Goroutines
// have other rows each.
func (e *evaluator) eachColumn(in *columns, fold func(from int, values []float64)) error {
	if !in.whole {
		return sideBySide(len(in.times), func(from, to int) error {
			read, values := in.reader(), make([]float64, to-from)
			for j := range in.series {
				if err := read(j, from, values); err != nil {
					return err
				}
				fold(from, values)
			}
			return nil
		})
	}
	return e.eachBatch(in, func(_ int, batch [][]float64) error {
		return sideBySide(len(in.times), func(from, to int) error {
			for _, values := range batch {
				fold(from, values[from:to])
			}
			return nil
		})
	})
}

// eachBatch reads whole columns on all cores, and calls use with some from one on, in their order.
func (e *evaluator) eachBatch(in *columns, use func(first int, batch [][]float64) error) error {
	count, workers, atOnce := len(in.series), 1, in.together
	if atOnce == 0 {
		most := max(1, batchValues/max(1, len(in.times)))
		workers = max(1, min(parallel.Workers(count), most))
		atOnce = max(workers, min(gatheredAtOnce*workers, most))
	}
	readers, batch := make([]reader, workers), make([][]float64, min(atOnce, count))
	for w := range readers {
		readers[w] = in.reader()
	}
	for i := range batch {
		batch[i] = make([]float64, len(in.times))
	}
	for first := 0; first < count; first += atOnce {
		some := batch[:min(atOnce, count-first)]
		if err := parallel.Run(e.ctx, workers, len(some), func(_ context.Context, w int, jobs iter.Seq[int]) error {
			for i := range jobs {
				if err := readers[w](first+i, 0, some[i]); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
		if err := use(first, some); err != nil {
			return err
		}
	}
	return nil
}

// accumulate computes results, which are 0, of so many columns. Pass goes through these in their order, some rows at a
// time; for std and var, twice.
func (m acrossMethod) accumulate(results []float64, columns int,
	pass func(fold func(from int, values []float64)) error) error {
	if m.base == acrossMin || m.base == acrossMax {
		for i := range results {
			results[i] = nan
		}
		return pass(func(from int, values []float64) { m.best(results[from:], values) })
	}
	counts, lows := make([]float64, len(results)), make([]float64, len(results))
	if err := pass(func(from int, values []float64) {
		addUp(results[from:], lows[from:], counts[from:], values)
	}); err != nil {
		return err
	}
	for i, missing := range counts {
		counts[i] = float64(columns) - missing
	}
	switch m.base {
	case acrossSum:
		for i := range results {
			results[i] = compensated.Sum{High: results[i], Low: lows[i]}.Float()
		}
		return nil
	case acrossCount:
		copy(results, counts)
		return nil
	case acrossMean:
		for i, n := range counts {
			results[i] = compensated.Sum{High: results[i], Low: lows[i]}.Float() / n // 0/0 is NaN
		}
		if slices.ContainsFunc(results, func(v float64) bool { return math.IsInf(v, 0) }) {
			return meansThatOverflow(results, counts, pass)
		}
		return nil
	}
	for i, n := range counts {
		mean := compensated.Sum{High: results[i], Low: lows[i]}.Over(n)
		results[i], lows[i] = mean.High, mean.Low
	}
	squares := make([]float64, len(results))
	if err := pass(func(from int, values []float64) {
		squares, high, low := squares[from:][:len(values)], results[from:][:len(values)], lows[from:][:len(values)]
		for i, v := range values {
			if v == v {
				d := v - high[i] - low[i]
				squares[i] += float64(d * d)
			}
		}
	}); err != nil {
		return err
	}
	for i, n := range counts {
		results[i] = m.spread(squares[i], n)
	}
	return nil
}

// addUp adds values to compensated sums and counts those that are NaN, which are left out, row by row.
func addUp(sums, lows, missing, values []float64) {
	sums, lows, missing = sums[:len(values)], lows[:len(values)], missing[:len(values)]
	for i, v := range values {
		if v != v {
			missing[i]++ // few are: counting the others would touch as much memory again
			continue
		}
		sum := compensated.Sum{High: sums[i], Low: lows[i]}.Plus(v)
		sums[i], lows[i] = sum.High, sum.Low
	}
}

// meansThatOverflow computes infinite results anew from sums that are 2^64 times smaller, as many as there may be
// values: a mean is finite where its values are.
func meansThatOverflow(results, counts []float64, pass func(fold func(from int, values []float64)) error) error {
	n := len(results)
	sums, lows, missing := make([]float64, n), make([]float64, n), make([]float64, n)
	if err := pass(func(from int, values []float64) {
		scaled := slices.Clone(values)
		for i := range scaled {
			scaled[i] *= 0x1p-64
		}
		addUp(sums[from:], lows[from:], missing[from:], scaled)
	}); err != nil {
		return err
	}
	for i, v := range results {
		if math.IsInf(v, 0) {
			results[i] = compensated.Sum{High: sums[i], Low: lows[i]}.Float() / counts[i] * 0x1p64
		}
	}
	return nil
}

// best replaces the results that a value is less than, or greater than; any value replaces NaN, which replaces none.
func (m acrossMethod) best(results, values []float64) {
	results = results[:len(values)]
	if m.base == acrossMin {
		for i, v := range values {
			if !(results[i] <= v) && v == v {
				results[i] = v
			}
		}
		return
	}
	for i, v := range values {
		if !(results[i] >= v) && v == v {
			results[i] = v
		}
	}
}
