package columns

import (
	"sort"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/util/annotations"
)

// Times are those of a query, in ms.
type Times struct {
	Start, Step int64
	N           int
}

// At returns the i-th time.
func (t Times) At(i int) int64 { return t.Start + int64(i)*t.Step }

// Place returns the i of one of these times.
func (t Times) Place(at int64) int {
	if t.N == 1 {
		return 0
	}
	return int((at - t.Start) / t.Step)
}

// Samples are those of a series, in order of time.
type Samples struct {
	Labels labels.Labels
	Times  []int64 // ms, ascending strictly
	Values []float64
	// Combine returns the function over a range, where samples are not single values. Otherwise it is nil.
	Combine func(Window) float64
	// Notes are added to; nil: there are none yet.
	Notes annotations.Annotations
}

// Scratch is the memory of a goroutine that computes rows.
type Scratch struct {
	times  []int64
	values []float64
	points []upstream.FPoint
	matrix upstream.Matrix
	helper upstream.EvalNodeHelper
}

// Bytes returns how much memory it has.
func (m *Scratch) Bytes() int { return 8*(cap(m.times)+cap(m.values)) + 16*cap(m.points) }

// Row sets out to the values of a series at all times, those from before an aggregation. lookback is how long a sample
// is a selector's value. It reports whether there is any, whether the function over the range gave any, and how many
// samples the values came from, those of two ranges twice.
func (p *Pipeline) Row(m *Scratch, s *Samples, at Times, lookback int64, out []float64) (any, called bool, used int64) {
	if p.call == nil {
		p.instants(s, at, lookback, out)
		Present(out, func(int, float64) { used++ })
	} else {
		used = p.windows(m, s, at, out)
		for _, v := range out {
			if !isAbsent(v) {
				called = true
				break
			}
		}
	}
	return p.before.apply(out), called, used
}

// instants sets out to the newest sample at each time.
func (p *Pipeline) instants(s *Samples, at Times, lookback int64, out []float64) {
	offset, next := p.offset(), 0
	for i := range out {
		now := at.At(i) - offset
		for next < len(s.Times) && s.Times[next] <= now {
			next++
		}
		if next == 0 || s.Times[next-1] <= now-lookback {
			out[i] = absent
		} else {
			out[i] = s.Values[next-1] // absent is also what marks the end of a series
		}
	}
}

// windows sets out to the function over the range at each time, and returns how many samples the ranges have.
func (p *Pipeline) windows(m *Scratch, s *Samples, at Times, out []float64) (used int64) {
	times, values := s.Times, s.Values
	if s.Combine == nil {
		times, values = m.withoutEnds(times, values)
	}
	of := p.over(m, s, times, values)
	offset := p.offset()
	from, to := 0, 0
	if first := at.At(0) - offset - p.Range; len(times) > 0 && times[0] <= first {
		from = sort.Search(len(times), func(i int) bool { return times[i] > first })
		to = from
	}
	for i := range out {
		end := at.At(i) - offset
		start := end - p.Range
		for to < len(times) && times[to] <= end {
			to++
		}
		for from < to && times[from] <= start {
			from++
		}
		if from == to {
			out[i] = absent
		} else {
			out[i] = of(Window{from, to, start, end, at.At(i)})
			used += int64(to - from)
		}
	}
	return used
}

// withoutEnds returns samples without those that mark the end of a series.
func (m *Scratch) withoutEnds(times []int64, values []float64) ([]int64, []float64) {
	for i, v := range values {
		if isAbsent(v) {
			m.times, m.values = append(m.times[:0], times[:i]...), append(m.values[:0], values[:i]...)
			for j := i; j < len(values); j++ {
				if !isAbsent(values[j]) {
					m.times, m.values = append(m.times, times[j]), append(m.values, values[j])
				}
			}
			return m.times, m.values
		}
	}
	return times, values
}

// Window is a range (Start, End], its samples by their places, From up to To (exclusive), and the time of the query.
type Window struct {
	From, To        int
	Start, End, Now int64
}

// over returns the function over windows of these samples.
func (p *Pipeline) over(m *Scratch, s *Samples, times []int64, values []float64) func(Window) float64 {
	if s.Combine != nil {
		return s.Combine
	}
	if f := valueWindows[p.call.Func.Name]; f != nil {
		return func(w Window) float64 { return f(values[w.From:w.To]) }
	}
	if r := Rates[p.call.Func.Name]; r != nil {
		seconds := (time.Duration(p.Range) * time.Millisecond).Seconds()
		return func(w Window) float64 {
			return r.of(times[w.From:w.To], values[w.From:w.To], w.Start, w.End, seconds)
		}
	}
	return p.overPoints(m, s, times, values)
}

// overPoints returns the engine's own function over windows.
func (p *Pipeline) overPoints(m *Scratch, s *Samples, times []int64, values []float64) func(Window) float64 {
	m.points = m.points[:0]
	for i, t := range times {
		m.points = append(m.points, upstream.FPoint{T: t, F: values[i]})
	}
	m.matrix = append(m.matrix[:0], upstream.Series{Metric: s.Labels})
	vectors := make([]upstream.Vector, len(p.parameters))
	for i, v := range p.parameters {
		vectors[i] = upstream.Vector{{F: v}}
	}
	function := upstream.FunctionCalls[p.call.Func.Name]
	return func(w Window) float64 {
		m.matrix[0].Floats = m.points[w.From:w.To:w.To]
		m.helper.Ts = w.Now
		result, notes := function(vectors, m.matrix, p.args, &m.helper)
		s.Notes.Merge(notes)
		m.helper.Out = result[:0]
		if len(result) == 0 {
			return absent
		}
		return result[0].F
	}
}
