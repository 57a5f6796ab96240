package api

import (
	"math"

	"gnocco/carbonara"
)

// span bounds what a part of a predicate may answer for the values of a zone. It may be wider.
type span struct {
	low, high float64
	nan       bool // NaN may be among them, too
}

// unknown is the span of an answer that nothing is known of.
var unknown = span{math.Inf(-1), math.Inf(1), true}

func pointSpan(v float64) span { return span{v, v, false} }

// truth is the span of a condition.
func truth(may, must bool) span { return span{zeroOrOne(must), zeroOrOne(may), false} }

func (s span) contains(v float64) bool { return s.low <= v && v <= s.high }
func (s span) isInfinite() bool        { return math.IsInf(s.low, 0) || math.IsInf(s.high, 0) }

// mayHold tells whether something in s holds, mustHold whether all of it does: what is not zero.
func (s span) mayHold() bool  { return s.nan || s.low != 0 || s.high != 0 }
func (s span) mustHold() bool { return !s.contains(0) }

// Nothing holds of NaN but that it differs.

func lessSpan(a, b span) span {
	return truth(a.low < b.high, a.high < b.low && !a.nan && !b.nan)
}

func lessOrEqualSpan(a, b span) span {
	return truth(a.low <= b.high, a.high <= b.low && !a.nan && !b.nan)
}

func equalSpan(a, b span) span {
	return truth(a.low <= b.high && b.low <= a.high, a.low == b.high && b.low == a.high && !a.nan && !b.nan)
}

func notEqualSpan(a, b span) span {
	equal := equalSpan(a, b)
	return truth(!equal.mustHold(), !equal.mayHold())
}

func greaterSpan(a, b span) span        { return lessSpan(b, a) }
func greaterOrEqualSpan(a, b span) span { return lessOrEqualSpan(b, a) }

// arithmeticSpan returns the span of an operation whose answer only rises, or only falls, with either operand: its ends are at those of
// the operands, as rounding keeps order. Of infinities it may be NaN.
func arithmeticSpan(operation func(a, b float64) float64) func(a, b span) span {
	return func(a, b span) span {
		ends := [4]float64{operation(a.low, b.low), operation(a.low, b.high), operation(a.high, b.low), operation(a.high, b.high)}
		s := span{ends[0], ends[0], a.nan || b.nan}
		for _, end := range ends {
			if end != end {
				return unknown
			}
			s.low, s.high = min(s.low, end), max(s.high, end)
		}
		return s
	}
}

// multiplySpan knows that zero times infinity is NaN, also between the ends.
func multiplySpan(a, b span) span {
	if a.contains(0) && b.isInfinite() || b.contains(0) && a.isInfinite() {
		return unknown
	}
	return arithmeticSpan(multiply)(a, b)
}

// divideSpan knows that quotients turn where the divisor is zero.
func divideSpan(a, b span) span {
	if b.contains(0) {
		return unknown
	}
	return arithmeticSpan(divide)(a, b)
}

// unknownSpan is for operations that turn anywhere.
func unknownSpan(_, _ span) span { return unknown }

// sought returns what a search for aggregates of a method that the predicate holds for is after; nil if that is everything.
func (p valuePredicate) sought(method carbonara.Method) *carbonara.Sought {
	if p.holds(math.NaN()) {
		return nil // which lies in no zone
	}
	zone := carbonara.ZoneOf(func(z carbonara.Zone) bool { return p.over(span{z.Low, z.High, false}).mayHold() })
	if math.IsInf(zone.Low, -1) && math.IsInf(zone.High, 1) {
		return nil
	}
	return &carbonara.Sought{Method: method, Zone: zone}
}
