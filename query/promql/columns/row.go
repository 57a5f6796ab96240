package columns

import (
	"github.com/prometheus/prometheus/model/labels"
	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/util/annotations"
)

// Times are those of a query, in ms.
type Times struct {
	Start, Step int64
	N           int
}

// At returns the i-th time.
func (t Times) At(i int) int64 { return t.Start + int64(i)*t.Step }

// Samples are those of a series, in order of time. A sample covers the time from its begin (exclusive) to its time: a
// measure covers a ms, and a group its width. A range has the samples that it touches.
type Samples struct {
	Labels labels.Labels
	Times  []int64 // ms, ascending
	Begins []int64 // ms, ascending; nil: all samples are measures
	Values []float64
	// Combine returns the function over a range, where samples are not single values. Otherwise it is nil.
	Combine func(Window) float64
	// Notes are added to; nil: there are none yet.
	Notes annotations.Annotations
	Cut   int64 // ms: the width of the widest group that some range had a part of; 0: none
}

// Scratch is the memory of a goroutine that computes rows.
type Scratch struct {
	times  []int64
	begins []int64
	values []float64
	points []upstream.FPoint
	matrix upstream.Matrix
	helper upstream.EvalNodeHelper
}

// Bytes returns how much memory it has.
func (m *Scratch) Bytes() int { return 8*(cap(m.times)+cap(m.begins)+cap(m.values)) + 16*cap(m.points) }

// Row sets out to the values of a series at all times, those from before an aggregation. lookback is how long a sample
// is a selector's value. It reports whether there is any, whether the function over the range gave any, and how many
// samples the values came from, those of two ranges twice.
func (p *Pipeline) Row(m *Scratch, s *Samples, at Times, lookback int64, out []float64) (any, called bool, used int64) {
	if p.call == nil {
		p.instants(s, at, lookback, out)
		Present(out, func(int, float64) { used++ })
	} else {
		used = p.windows(m, s, at, out)
		called = hasValue(out)
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
	of := p.over(m, s)
	offset := p.offset()
	var c Cursor
	for i := range out {
		now := at.At(i)
		w, ok := c.Window(s, now-offset-p.Range, now-offset, now)
		if !ok {
			out[i] = absent
			continue
		}
		out[i] = of(w)
		used += int64(w.To - w.From)
	}
	return used
}

// withoutEnds takes those away that mark the end of a series.
func (m *Scratch) withoutEnds(s *Samples) {
	m.times, m.begins, m.values = m.times[:0], m.begins[:0], m.values[:0]
	for i, v := range s.Values {
		if isAbsent(v) {
			m.times, m.values = append(m.times, s.Times[:i]...), append(m.values, s.Values[:i]...)
			if s.Begins != nil {
				m.begins = append(m.begins, s.Begins[:i]...)
			}
			for j := i; j < len(s.Values); j++ {
				if isAbsent(s.Values[j]) {
					continue
				}
				m.times, m.values = append(m.times, s.Times[j]), append(m.values, s.Values[j])
				if s.Begins != nil {
					m.begins = append(m.begins, s.Begins[j])
				}
			}
			s.Times, s.Values = m.times, m.values
			if s.Begins != nil {
				s.Begins = m.begins
			}
			return
		}
	}
}

// over returns the function over windows of these samples.
func (p *Pipeline) over(m *Scratch, s *Samples) func(Window) float64 {
	if s.Combine != nil {
		return s.Combine
	}
	m.withoutEnds(s)
	times, values, name := s.Times, s.Values, plainName(p.call.Func.Name)
	var of func(Window) float64
	if f := valueWindows[name]; f != nil {
		of = func(w Window) float64 { return f(values[w.From:w.To]) }
	} else if r := Rates[name]; r != nil {
		of = r.windows(values, func(i int) int64 { return times[i] }, p.Range)
	} else {
		of = p.overPoints(m, s)
	}
	if s.Begins == nil {
		return of
	}
	return s.overGroups(name, of)
}

// Ranges returns the function over ranges (start, end] of these samples at some time of a query, absent where there is
// nothing. The parameters of the function are those of its last call.
func (p *Pipeline) Ranges(m *Scratch, s *Samples) func(parameters []upstream.Vector, end, now int64) float64 {
	of := p.over(m, s)
	var c Cursor
	return func(parameters []upstream.Vector, end, now int64) float64 {
		for i := range p.parameters {
			p.parameters[i] = parameters[i][0].F
		}
		if w, ok := c.Window(s, end-p.Range, end, now); ok {
			return of(w)
		}
		return absent
	}
}

// OfCall returns a pipeline for [Pipeline.Ranges] alone, of a function by its name in the engine's table.
func OfCall(name string, args parser.Expressions, length int64) *Pipeline {
	return &Pipeline{call: &parser.Call{Func: &parser.Function{Name: name}, Args: args}, args: args, Range: length,
		parameters: make([]float64, len(args)-1)}
}

// overPoints returns the engine's own function over windows.
func (p *Pipeline) overPoints(m *Scratch, s *Samples) func(Window) float64 {
	m.points = m.points[:0]
	for i, t := range s.Times {
		m.points = append(m.points, upstream.FPoint{T: t, F: s.Values[i]})
	}
	m.matrix = append(m.matrix[:0], upstream.Series{Metric: s.Labels})
	vectors := make([]upstream.Vector, len(p.parameters))
	for i := range vectors {
		vectors[i] = upstream.Vector{{}}
	}
	function := plainCalls[plainName(p.call.Func.Name)]
	return func(w Window) float64 {
		for i, v := range p.parameters {
			vectors[i][0].F = v
		}
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
