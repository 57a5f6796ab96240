package rules

import (
	"cmp"
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
)

// A span is the cells after from, up to to.
type span struct{ From, To carbonara.Timestamp }

// cells are n times, each step after the one before.
type cells struct {
	first carbonara.Timestamp
	step  time.Duration
	n     int
}

// at returns the i-th of them.
func (c cells) at(i int) carbonara.Timestamp { return c.first.Add(time.Duration(i) * c.step) }

// every returns the multiples of step in a span.
func (s span) every(step time.Duration) cells {
	return cells{s.From.Floor(step).Add(step), step, int(spans{s}.cells(step))}
}

// spans are disjoint and ascending.
type spans []span

// mostSpans bounds those of a rule: beyond it the closest ones become one, with the gap between them.
const mostSpans = 64

// with returns the cells of s and of another span.
func (s spans) with(other span) spans {
	if other.From >= other.To {
		return s
	}
	all := append(slices.Clone(s), other)
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.From, b.From) })
	for {
		closest := 0
		for i := 1; i < len(all); i++ {
			if closest == 0 || all[i].From-all[i-1].To < all[closest].From-all[closest-1].To {
				closest = i
			}
		}
		if closest == 0 || len(all) <= mostSpans && all[closest].From > all[closest-1].To {
			return all
		}
		all[closest-1].To = max(all[closest-1].To, all[closest].To)
		all = slices.Delete(all, closest, closest+1)
	}
}

// without returns the cells of s that another span does not have.
func (s spans) without(other span) (rest spans) {
	for _, one := range s {
		rest = rest.with(span{one.From, min(one.To, other.From)}).with(span{max(one.From, other.To), one.To})
	}
	return rest
}

// has reports whether a cell lies in the spans.
func (s spans) has(t carbonara.Timestamp) bool {
	return slices.ContainsFunc(s, func(one span) bool { return one.From < t && t <= one.To })
}

// cells returns how many multiples of step lie in the spans.
func (s spans) cells(step time.Duration) (n int64) {
	for _, one := range s {
		n += int64(one.To.Floor(step)-one.From.Floor(step)) / int64(step)
	}
	return n
}
