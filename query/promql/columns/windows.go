package columns

import (
	"cmp"
	"math"
	"slices"
	"time"

	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/util/kahansum"
)

// overRanges are the functions over ranges that give a series for each series.
var overRanges = map[string]bool{
	"rate": true, "increase": true, "delta": true, "irate": true, "idelta": true, "deriv": true, "changes": true,
	"resets": true, "predict_linear": true, "avg_over_time": true, "sum_over_time": true, "min_over_time": true,
	"max_over_time": true, "count_over_time": true, "last_over_time": true, "first_over_time": true,
	"present_over_time": true, "stddev_over_time": true, "stdvar_over_time": true, "quantile_over_time": true,
	"mad_over_time": true, "double_exponential_smoothing": true, "ts_of_min_over_time": true,
	"ts_of_max_over_time": true, "ts_of_first_over_time": true, "ts_of_last_over_time": true,
}

var (
	plainCalls = make(map[string]upstream.FunctionCall) // the engine's own
	likes      = make(map[string]string)                // which of these other functions are, of single values
)

// plainName returns the name of the engine's own function.
func plainName(name string) string { return cmp.Or(likes[name], name) }

// Install replaces the engine's functions over ranges in its table, and adds others: each name in added is of single
// values like the function named there. Only Install writes to the table, which all engines of the process share.
func Install(added map[string]string, replace func(name string, plain upstream.FunctionCall) upstream.FunctionCall) {
	for name, f := range parser.Functions {
		if slices.Contains(f.ArgTypes, parser.ValueTypeMatrix) {
			plainCalls[name] = upstream.FunctionCalls[name]
		}
	}
	for name, like := range added {
		likes[name], overRanges[name], direct[name] = like, overRanges[like], direct[like]
		upstream.FunctionCalls[name] = replace(name, plainCalls[like])
	}
	for name, plain := range plainCalls {
		upstream.FunctionCalls[name] = replace(name, plain)
	}
}

// valueWindows are functions of the values of a range, which has one at least. They do what the engine does, in its
// order.
var valueWindows = map[string]func([]float64) float64{
	"sum_over_time": sum, "avg_over_time": average, "min_over_time": lowest, "max_over_time": highest,
	"count_over_time":   func(v []float64) float64 { return float64(len(v)) },
	"last_over_time":    func(v []float64) float64 { return v[len(v)-1] },
	"first_over_time":   func(v []float64) float64 { return v[0] },
	"present_over_time": func([]float64) float64 { return 1 },
	"absent_over_time":  func([]float64) float64 { return 1 }, // of a series alone, the opposite
}

// Over returns one of the engine's functions over the values of a range, if it needs no more than these. There is at
// least one.
func Over(function string, values []float64) float64 {
	if f := valueWindows[function]; f != nil {
		return f(values)
	}
	points := make([]upstream.FPoint, len(values))
	for i, v := range values {
		points[i].F = v
	}
	return OfPoints(function, points)
}

// OfPoints returns one of the engine's functions over the samples of a range, absent where it gives nothing.
func OfPoints(function string, points []upstream.FPoint) float64 {
	result, _ := plainCalls[function](nil, upstream.Matrix{{Floats: points}}, nil, &upstream.EvalNodeHelper{})
	if len(result) == 0 {
		return absent
	}
	return result[0].F
}

// sum and average add as kahansum.Inc does. It is written out here: the call takes longer than the addition.
func sum(values []float64) float64 {
	var sum, c float64
	for _, v := range values {
		t := sum + v
		switch {
		case t > math.MaxFloat64 || t < -math.MaxFloat64:
			c = 0
		case math.Abs(sum) >= math.Abs(v):
			c += (sum - t) + v
		default:
			c += (v - t) + sum
		}
		sum = t
	}
	if math.IsInf(sum, 0) {
		return sum
	}
	return sum + c
}

func average(values []float64) float64 {
	sum, c := values[0], 0.0
	for i, v := range values[1:] {
		t := sum + v
		switch {
		case t > math.MaxFloat64 || t < -math.MaxFloat64:
			return incrementalAverage(values[i+1:], float64(i+1), sum, c)
		case math.Abs(sum) >= math.Abs(v):
			c += (sum - t) + v
		default:
			c += (v - t) + sum
		}
		sum = t
	}
	n := float64(len(values))
	return sum/n + c/n
}

// incrementalAverage continues an average of n values, whose sum with the next would overflow.
func incrementalAverage(values []float64, n, sum, c float64) float64 {
	mean := sum / n
	c /= n
	for _, v := range values {
		n++
		q := (n - 1) / n
		mean, c = kahansum.Inc(v/n, q*mean, q*c)
	}
	return mean + c
}

func lowest(values []float64) float64 {
	least := values[0]
	for _, v := range values {
		if v < least || math.IsNaN(least) {
			least = v
		}
	}
	return least
}

func highest(values []float64) float64 {
	most := values[0]
	for _, v := range values {
		if v > most || math.IsNaN(most) {
			most = v
		}
	}
	return most
}

// Rate is a function that extrapolates the increase over a range.
type Rate struct{ ofCounter, perSecond bool }

// Rates are these functions.
var Rates = map[string]*Rate{"rate": {true, true}, "increase": {true, false}, "delta": {}}

// windows returns the rate over windows of samples, which have a length in ms; absent of less than two samples. It
// compares each sample once, however many windows have it.
func (r *Rate) windows(values []float64, at func(i int) int64, length int64) func(Window) float64 {
	seconds := (time.Duration(length) * time.Millisecond).Seconds()
	var resets []int // places of values below the one before
	for i := 1; r.ofCounter && i < len(values); i++ {
		if values[i] < values[i-1] {
			resets = append(resets, i)
		}
	}
	return func(w Window) float64 {
		last := w.To - 1
		i := Increase{Samples: float64(w.To - w.From), First: values[w.From], FirstTime: at(w.From), LastTime: at(last),
			By: values[last] - values[w.From]}
		first, _ := slices.BinarySearch(resets, w.From+1)
		for _, reset := range resets[first:] {
			if reset > last {
				break
			}
			i.By += values[reset-1]
		}
		return r.Extrapolate(&i, w.Start, w.End, seconds)
	}
}

// Increase is that of samples in a range: by how much, from the first to the last; times are ms.
type Increase struct {
	Samples, First, By  float64
	FirstTime, LastTime int64
}

// Extrapolate returns the rate over (start, end], which has so many seconds; absent of less than two samples.
func (r *Rate) Extrapolate(i *Increase, start, end int64, seconds float64) float64 {
	if i.Samples < 2 {
		return absent
	}
	toStart, toEnd := float64(i.FirstTime-start)/1000, float64(end-i.LastTime)/1000
	sampled := float64(i.LastTime-i.FirstTime) / 1000
	between := sampled / (i.Samples - 1)
	threshold := between * 1.1
	if toStart >= threshold {
		toStart = between / 2
	}
	if r.ofCounter { // it began at zero, not before
		toZero := toStart
		if i.By > 0 && i.First >= 0 {
			toZero = sampled * (i.First / i.By)
		}
		if toZero < toStart {
			toStart = toZero
		}
	}
	if toEnd >= threshold {
		toEnd = between / 2
	}
	factor := 1.0
	if sampled != 0 {
		factor = (sampled + toStart + toEnd) / sampled
	}
	if r.perSecond {
		factor /= seconds
	}
	return i.By * factor
}
