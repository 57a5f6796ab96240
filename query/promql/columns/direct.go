package columns

import (
	"math"
	"sort"

	"github.com/gnocco-db/gnocco/carbonara"
)

// Measures are the raw measures of a series as an archive has them. Each is a sample at the ms that it lies in, and Late
// ms later. Most rows follow from these alone, so no sample is made of them.
type Measures struct {
	Times      []carbonara.Timestamp // ascending strictly
	Values     []float64
	Late       int64 // ms
	StaleAfter int64 // ms after which the series ends, unless another measure follows
}

// direct are the functions over ranges whose result is NaN if it depends on a NaN. A NaN may mean that there is no
// measure.
var direct = map[string]bool{"sum_over_time": true, "avg_over_time": true, "min_over_time": true, "max_over_time": true,
	"last_over_time": true, "first_over_time": true}

// Direct reports whether RowOfMeasures may know the pipeline's rows.
func (p *Pipeline) Direct() bool { return p.call == nil || p.direct }

// RowOfMeasures is Row of raw measures. ok is false if samples have to be made of them: for NaNs, and for two measures
// of one ms, which are one sample. Out means nothing then.
func (p *Pipeline) RowOfMeasures(of *Measures, at Times, lookback int64, out []float64) (any bool, used int64, ok bool) {
	if p.call == nil {
		used, ok = p.directInstants(of, at, lookback, out)
	} else {
		used, ok = p.directWindows(of, at, out)
	}
	return ok && p.before.apply(out), used, ok
}

const perMillisecond = 1_000_000

// after returns the first time of a measure that is a sample after a time in ms.
func (m *Measures) after(ms int64) carbonara.Timestamp {
	const most = math.MaxInt64 / perMillisecond
	return carbonara.Timestamp(min(max(ms-m.Late+1, 0), most) * perMillisecond)
}

func (p *Pipeline) directInstants(of *Measures, at Times, lookback int64, out []float64) (used int64, ok bool) {
	times, offset, next := of.Times, p.offset(), 0
	for i := range out {
		now := at.At(i) - offset
		for end := of.after(now); next < len(times) && times[next] < end; {
			next++
		}
		out[i] = absent
		if next == 0 {
			continue
		}
		if t := int64(times[next-1])/perMillisecond + of.Late; t > now-lookback && now < t+of.StaleAfter {
			if out[i] = of.Values[next-1]; out[i] != out[i] {
				return 0, false
			}
			used++
		}
	}
	return used, true
}

func (p *Pipeline) directWindows(of *Measures, at Times, out []float64) (used int64, ok bool) {
	f, times, offset := valueWindows[p.call.Func.Name], of.Times, p.offset()
	first := of.after(at.At(0) - offset - p.Range)
	from := sort.Search(len(times), func(i int) bool { return times[i] >= first })
	to, ended := from, first // of the window before
	for i := range out {
		now := at.At(i) - offset
		start, end := of.after(now-p.Range), of.after(now)
		if start >= ended {
			from = to
		}
		for to < len(times) && times[to] < end {
			if to > 0 && times[to]-times[to-1] < perMillisecond &&
				times[to]/perMillisecond == times[to-1]/perMillisecond {
				return 0, false
			}
			to++
		}
		for from < to && times[from] < start {
			from++
		}
		ended = end
		if from == to {
			out[i] = absent
			continue
		}
		if out[i] = f(of.Values[from:to]); out[i] != out[i] {
			return 0, false
		}
		used += int64(to - from)
	}
	return used, true
}
