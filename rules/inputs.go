package rules

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// An input is a selector of an expression: which series it reads, and when.
type input struct {
	matchers      []*labels.Matcher
	name          string        // of the series; "": it may read several
	shift, length time.Duration // the measure of t counts for the cells from t+shift to t+shift+length
	instant       bool          // length is that of series that end
	always        bool          // any measure counts for all cells: the expression names the time
}

// inputsOf returns the selectors of an expression.
func inputsOf(expr parser.Expr) (inputs []input, err error) {
	parser.Inspect(expr, func(node parser.Node, path []parser.Node) error {
		if s, ok := node.(*parser.SubqueryExpr); ok && s.StartOrEnd != 0 {
			err = errStartOrEnd
		}
		v, ok := node.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		if v.StartOrEnd != 0 {
			err = errStartOrEnd
		}
		in := input{shift: v.OriginalOffset, instant: true, always: v.Timestamp != nil || v.OriginalOffsetExpr != nil ||
			v.Anchored || v.Smoothed}
		for _, m := range v.LabelMatchers {
			if m.Name == model.LabelName && m.Type == labels.MatchEqual {
				in.name = m.Value
			}
			if m.Name == model.LabelName || !strings.HasPrefix(m.Name, "__") { // others say how to read
				in.matchers = append(in.matchers, m)
			}
		}
		for _, outer := range path {
			switch o := outer.(type) {
			case *parser.MatrixSelector:
				in.length, in.instant = in.length+o.Range, false
				in.always = in.always || o.RangeExpr != nil
			case *parser.SubqueryExpr:
				in.length, in.shift = in.length+o.Range, in.shift+o.OriginalOffset
				in.always = in.always || o.Timestamp != nil || o.RangeExpr != nil || o.OriginalOffsetExpr != nil
			}
		}
		inputs = append(inputs, in)
		return nil
	})
	return inputs, err
}

var errStartOrEnd = errors.New("expr: @ start() and @ end() are of queries over a range: leave them out")

// selector returns an input as text.
func (in *input) selector() string {
	return (&parser.VectorSelector{LabelMatchers: in.matchers}).String()
}

// mayRead reports whether an input reads a metric. A resource's labels may just have changed, and its metrics may be
// shown under names that end with their own.
func (in *input) mayRead(m *model.Metric) bool {
	if m.Labels == "" {
		return in.name == "" || strings.HasSuffix(plain(in.name), plain(m.Name))
	}
	return !slices.ContainsFunc(in.matchers, func(o *labels.Matcher) bool { return !o.Matches(m.Labels.Get(o.Name)) })
}

// plain returns the lower-case letters and digits of a name.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(name))
}

// feeds reports whether an input may read results of a rule.
func (r *Rule) feeds(in input) bool {
	for _, m := range in.matchers {
		value, known := r.Labels[m.Name]
		if m.Name == model.LabelName {
			value, known = r.Record, true
		}
		if known && !m.Matches(value) {
			return false
		}
	}
	return true
}

// leastLookback is how long a series goes on after its last measure, at least.
const leastLookback = 5 * time.Minute

// touched returns the cells that a change from one time to another may have touched. granularity is the coarsest that
// answers for these times.
func (in *input) touched(from, to carbonara.Timestamp, granularity time.Duration) span {
	length := in.length + granularity
	if in.instant {
		length += max(leastLookback, 2*granularity)
	}
	s := span{0, carbonara.MaxTimestamp}
	if !in.always && from > 0 {
		s.From = max(0, min(from-1, from.Floor(granularity)).Add(in.shift)) // of a group, cells after its start
	}
	if !in.always && to < carbonara.MaxTimestamp/2 {
		s.To = to.Add(in.shift + length)
	}
	return s
}
