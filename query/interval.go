package query

import (
	"math"

	"github.com/gnocco-db/gnocco/carbonara"
)

// interval bounds what a part of a predicate may answer for the values of a zone. It may be wider.
type interval struct {
	low, high float64
	nan       bool // NaN may also be among them
}

// unknown is the interval of an answer that nothing is known of.
var unknown = interval{math.Inf(-1), math.Inf(1), true}

func pointInterval(v float64) interval { return interval{v, v, false} }

// truth is the interval of a condition.
func truth(may, must bool) interval { return interval{zeroOrOne(must), zeroOrOne(may), false} }

func (s interval) contains(v float64) bool { return s.low <= v && v <= s.high }
func (s interval) isInfinite() bool        { return math.IsInf(s.low, 0) || math.IsInf(s.high, 0) }

// mayHold reports whether some number in s holds, mustHold whether all do. Numbers other than zero hold.
func (s interval) mayHold() bool  { return s.nan || s.low != 0 || s.high != 0 }
func (s interval) mustHold() bool { return !s.contains(0) }

// Of all comparisons with NaN only != holds.

func lessInterval(a, b interval) interval {
	return truth(a.low < b.high, a.high < b.low && !a.nan && !b.nan)
}

func lessOrEqualInterval(a, b interval) interval {
	return truth(a.low <= b.high, a.high <= b.low && !a.nan && !b.nan)
}

func equalInterval(a, b interval) interval {
	return truth(a.low <= b.high && b.low <= a.high, a.low == b.high && b.low == a.high && !a.nan && !b.nan)
}

func notEqualInterval(a, b interval) interval {
	equal := equalInterval(a, b)
	return truth(!equal.mustHold(), !equal.mayHold())
}

func greaterInterval(a, b interval) interval        { return lessInterval(b, a) }
func greaterOrEqualInterval(a, b interval) interval { return lessOrEqualInterval(b, a) }

// arithmeticInterval returns the interval of an operation whose answer only rises, or only falls, with either operand:
// its ends are at those of the operands, as rounding keeps order. Of infinities it may be NaN.
func arithmeticInterval(operation func(a, b float64) float64) func(a, b interval) interval {
	return func(a, b interval) interval {
		ends := [4]float64{
			operation(a.low, b.low), operation(a.low, b.high),
			operation(a.high, b.low), operation(a.high, b.high),
		}
		s := interval{ends[0], ends[0], a.nan || b.nan}
		for _, end := range ends {
			if end != end {
				return unknown
			}
			s.low, s.high = min(s.low, end), max(s.high, end)
		}
		return s
	}
}

// multiplyInterval knows that zero times infinity is NaN, also between the ends.
func multiplyInterval(a, b interval) interval {
	if a.contains(0) && b.isInfinite() || b.contains(0) && a.isInfinite() {
		return unknown
	}
	return arithmeticInterval(multiply)(a, b)
}

// divideInterval knows that quotients turn where the divisor is zero.
func divideInterval(a, b interval) interval {
	if b.contains(0) {
		return unknown
	}
	return arithmeticInterval(divide)(a, b)
}

// unknownInterval is for operations that turn anywhere.
func unknownInterval(_, _ interval) interval { return unknown }

// ValueFilter returns a filter that no aggregate for which the predicate holds fails; nil if every value may match.
func (p Predicate) ValueFilter(method carbonara.Method) *carbonara.ValueFilter {
	if p.Holds(math.NaN()) {
		return nil // which lies in no zone
	}
	zone := carbonara.ZoneOf(func(z carbonara.Zone) bool { return p.over(interval{z.Low, z.High, false}).mayHold() })
	if math.IsInf(zone.Low, -1) && math.IsInf(zone.High, 1) {
		return nil
	}
	return &carbonara.ValueFilter{Method: method, Zone: zone}
}
