package columns

import (
	"math"
	"slices"
	"sort"
)

// Measures are the raw measures of a series as an archive has them, their times in ns. Each is a sample at the ms that
// it lies in, and Late ms later. Most rows follow from these alone, so no sample is made of them.
type Measures[T ~int64] struct {
	Times      []T // ascending strictly
	Values     []float64
	Late       int64 // ms
	StaleAfter int64 // ms after which the series ends, unless another measure follows
}

// direct are the functions over ranges whose result is NaN if it depends on a NaN, and Rates. A NaN may mean that there
// is no measure.
var direct = map[string]bool{"sum_over_time": true, "avg_over_time": true, "min_over_time": true, "max_over_time": true,
	"last_over_time": true, "first_over_time": true, "rate": true, "increase": true, "delta": true}

// Direct reports whether RowOfMeasures may know the pipeline's rows.
func (p *Pipeline) Direct() bool { return p.call == nil || p.direct }

// RowOfMeasures is Row of raw measures. ok is false if samples have to be made of them: for NaNs. Out means nothing
// then.
func RowOfMeasures[T ~int64](p *Pipeline, of *Measures[T], at Times, lookback int64, out []float64) (any, called bool,
	used int64, ok bool) {
	if p.call == nil {
		used, ok = of.instants(p.offset(), at, lookback, out)
	} else if r := Rates[p.call.Func.Name]; r == nil {
		f := valueWindows[plainName(p.call.Func.Name)]
		windows := func(w Window) float64 { return f(of.Values[w.From:w.To]) }
		used, ok = of.windows(windows, 1, p.Range, p.offset(), at, out)
	} else if !slices.ContainsFunc(of.Values, math.IsNaN) {
		time := func(i int) int64 { return int64(of.Times[i])/perMillisecond + of.Late }
		used, ok = of.windows(r.windows(of.Values, time, p.Range), 2, p.Range, p.offset(), at, out)
	}
	called = ok && p.call != nil && hasValue(out)
	return ok && p.before.apply(out), called, used, ok
}

const perMillisecond = 1_000_000

// after returns the first time of a measure that is a sample after a time in ms.
func (m *Measures[T]) after(ms int64) T {
	const most = math.MaxInt64 / perMillisecond
	return T(min(max(ms-m.Late+1, 0), most) * perMillisecond)
}

func (m *Measures[T]) instants(offset int64, at Times, lookback int64, out []float64) (used int64, ok bool) {
	times, next := m.Times, 0
	for i := range out {
		now := at.At(i) - offset
		for end := m.after(now); next < len(times) && times[next] < end; {
			next++
		}
		out[i] = absent
		if next == 0 {
			continue
		}
		if t := int64(times[next-1])/perMillisecond + m.Late; t > now-lookback && now < t+m.StaleAfter {
			if out[i] = m.Values[next-1]; out[i] != out[i] {
				return 0, false
			}
			used++
		}
	}
	return used, true
}

// windows sets out to a function over the range at each time, which needs so many measures at least.
func (m *Measures[T]) windows(f func(Window) float64, least int, length, offset int64, at Times, out []float64) (
	used int64, ok bool) {
	times := m.Times
	first := m.after(at.At(0) - offset - length)
	from := sort.Search(len(times), func(i int) bool { return times[i] >= first })
	to, ended := from, first // of the window before
	for i := range out {
		now := at.At(i) - offset
		start, end := m.after(now-length), m.after(now)
		if start >= ended {
			from = to
		}
		for to < len(times) && times[to] < end {
			to++
		}
		for from < to && times[from] < start {
			from++
		}
		ended = end
		if used += int64(to - from); to-from < least {
			out[i] = absent
		} else if out[i] = f(Window{From: from, To: to, Start: now - length, End: now}); out[i] != out[i] {
			return 0, false
		}
	}
	return used, true
}
