package filter

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds are what an index can tell of a filter: a resource that matches lies in them; others may as well. One of the
// fields is set; if none is, nothing matches.
type Bounds struct {
	Range *Range
	All   []*Bounds // it lies in each: to look at one of them is enough
	Any   []*Bounds // it lies in one at least
}

// Range is values of one column; null is not among them.
type Range struct {
	Column    string // as resources have it: an attribute's name too, nothing derived
	Low, High any    // the first and the last value, of the column's Go type; times to the microsecond; nil: open
	Prefix    string // of texts, instead of Low and High
	kind      kind
	like      like // of texts: not all within match; nil: all do
}

// Exact reports whether the range is one value.
func (r *Range) Exact() bool { return r.Low != nil && r.Low == r.High }

// HasPattern reports whether there may be texts between the ends of the range that are not in it: MatchesText says so.
func (r *Range) HasPattern() bool { return r.like != nil }

// MatchesText reports whether a text between the ends of the range is in it.
func (r *Range) MatchesText(text string) bool { return r.like == nil || r.like.matches(text) }

// Holds reports whether a value, which is not null, is in the range.
func (r *Range) Holds(value any) bool {
	if r.like != nil && !r.like.matches(value.(string)) {
		return false
	}
	if r.Prefix != "" {
		return strings.HasPrefix(value.(string), r.Prefix)
	}
	return (r.Low == nil || r.kind.compare(value, r.Low) >= 0) && (r.High == nil || r.kind.compare(value, r.High) <= 0)
}

// Bounds returns nil where the filter sets none that an index could use.
func (f *Filter) Bounds() *Bounds { return f.bounds }

// rank puts what is likely to have few candidates first.
func (b *Bounds) rank() int {
	switch r := b.Range; {
	case r == nil:
		return 1
	case r.Exact():
		return 0
	case r.HasPattern() && r.Prefix == "":
		return 2
	}
	return 1
}

// bounds returns those of e, which compiles.
func (s *Scope) bounds(e *Expr) *Bounds {
	switch e.op {
	case opAnd:
		b := new(Bounds)
		for _, operand := range e.operands {
			if part := s.bounds(operand); part != nil {
				b.All = append(b.All, part)
			}
		}
		if len(b.All) == 0 {
			return nil
		}
		slices.SortStableFunc(b.All, func(x, y *Bounds) int { return cmp.Compare(x.rank(), y.rank()) })
		return b
	case opOr:
		b := new(Bounds)
		for _, operand := range e.operands {
			part := s.bounds(operand)
			if part == nil {
				return nil
			}
			b.Any = append(b.Any, part)
		}
		return b
	case opNot, opNotEqual:
		return nil
	}
	if e.field == "created_by_user_id" && e.op == opEqual && e.values[0] != nil {
		return s.creatorBounds(e.values[0])
	}
	c, ok := s.column(e.field)
	if _, derived := derivedColumns[e.field]; derived || !ok || c.kind == kindBool || c.kind > kindTime {
		return nil
	}
	if e.op == opIn {
		return s.memberBounds(c, e.values)
	}
	if e.values[0] == nil { // "= null": no index holds what is not there
		return nil
	}
	value, err := s.value(c, e.values[0])
	if err != nil {
		return nil
	}
	r := &Range{Column: c.name, kind: c.kind}
	switch e.op {
	case opEqual:
		r.Low, r.High = value, value
	case opLess, opLessEqual:
		r.High = value
	case opGreater, opGreaterEqual:
		r.Low = value
	case opLike:
		p := parsePattern(value.(string))
		prefix, whole := p.prefix()
		switch open := !whole && len(p) == utf8.RuneCountInString(prefix)+1 && p[len(p)-1] == anyText; {
		case whole:
			r.Low, r.High = prefix, prefix
		case open && prefix == "":
			return nil
		case open:
			r.Prefix = prefix
		default:
			r.Prefix, r.like = prefix, p.compile()
		}
	}
	return &Bounds{Range: r}
}

// memberBounds are those of in. Null matches no member.
func (s *Scope) memberBounds(c column, members []literal) *Bounds {
	b := new(Bounds)
	for _, l := range members {
		if l == nil {
			continue
		}
		value, err := s.value(c, l)
		if err != nil {
			return nil
		}
		b.Any = append(b.Any, &Bounds{Range: &Range{Column: c.name, kind: c.kind, Low: value, High: value}})
	}
	return b
}

// creatorBounds are the bounds of a user: the creator up to the first colon.
func (s *Scope) creatorBounds(user literal) *Bounds {
	value, err := s.value(derivedColumns["created_by_user_id"], user)
	if err != nil {
		return nil
	}
	text := value.(string)
	return &Bounds{Any: []*Bounds{
		{Range: &Range{Column: "creator", kind: kindText, Low: text, High: text}},
		{Range: &Range{Column: "creator", kind: kindText, Prefix: text + ":"}},
	}}
}

// prefix returns what all texts that p matches begin with, and whether that is the whole of each.
func (p pattern) prefix() (text string, whole bool) {
	var b strings.Builder
	for _, r := range p {
		// A replacement character also matches bytes that are no UTF-8.
		if r == anyRune || r == anyText || r == utf8.RuneError {
			return b.String(), false
		}
		b.WriteRune(rune(r))
	}
	return b.String(), true
}
