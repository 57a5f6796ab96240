package aggregates

import (
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
)

// Combination is an aggregation of metrics that is computed from the moments of their groups: it gives what all their
// measures at once give, where an operation computes from aggregates, a mean of means.
type Combination struct {
	References []int // indexes into the operation's References
	Method     carbonara.Method
	Across     bool     // all metrics together; else one by one
	Grouping   Grouping // into which groups theirs are put; nil: as stored
	width      time.Duration
}

// Exact returns the operation with every aggregate and resample of metrics as a Combination, on which the rest
// operates. All metrics have to be in one; it asks for their aggregates by the method by which it aggregates. The error
// is an *InvalidError.
func (o *Operation) Exact() (*Operation, error) {
	x := &Operation{References: o.References}
	root, err := x.exactly(o, o.root)
	x.root = root
	return x, err
}

// exactly returns node n of o for x, whose combinations it appends.
func (x *Operation) exactly(o *Operation, n *node) (*node, error) {
	out := *n
	switch n.kind {
	case kindMetric:
		return nil, &InvalidError{
			Reason: "'metric' operation invalid",
			Detail: "exact: " + o.text(n) + " has to stand in an aggregate or resample",
		}
	case kindAggregate, kindResample:
		c, err := o.combination(n)
		if err != nil {
			return nil, err
		}
		x.Combinations = append(x.Combinations, c)
		out.kind, out.combination, out.operands = kindCombined, len(x.Combinations)-1, []*node{n}
		return &out, nil
	}
	out.operands = make([]*node, len(n.operands))
	for i, operand := range n.operands {
		if operand.kind == kindNumber {
			out.operands[i] = operand
			continue
		}
		var err error
		if out.operands[i], err = x.exactly(o, operand); err != nil {
			return nil, err
		}
	}
	return &out, nil
}

// combination reads an aggregate of metrics, a resample of them, or one of these of the other.
func (o *Operation) combination(n *node) (Combination, error) {
	refuse := func(why string) (Combination, error) {
		return Combination{}, n.invalid("exact: %s in %s", why, o.text(n))
	}
	if n.kind == kindMetric {
		method, err := carbonara.ParseMethod(o.References[n.references[0]].Aggregation)
		for _, i := range n.references {
			if o.References[i].Aggregation != o.References[n.references[0]].Aggregation {
				return refuse("metrics of several aggregation methods")
			}
		}
		if err != nil {
			return refuse("an unknown aggregation method")
		}
		return Combination{References: n.references, Method: method}, nil
	}
	if n.kind != kindAggregate && n.kind != kindResample {
		return refuse("only metrics, an aggregate or a resample can be aggregated from their measures: " + n.name)
	}
	c, err := o.combination(n.operands[0])
	if err != nil {
		return c, err
	}
	method := n.method
	if n.kind == kindAggregate {
		if c.Across {
			return refuse("an aggregate of an aggregate")
		}
		method, c.Across = n.across.stored(), true
	} else {
		if c.Grouping != nil {
			return refuse("a resample of a resample")
		}
		c.Grouping, c.width = n.grouping, n.width
	}
	if method != c.Method {
		return refuse(n.aggregationName() + " of " + c.Method.String() + ", which has to be the same method")
	}
	if !c.combines() {
		return refuse(c.Method.String() + " does not follow from what is stored of groups")
	}
	return c, nil
}

// stored returns the archive policies' method of this name; 0 for var, which is none.
func (m acrossMethod) stored() carbonara.Method {
	method, err := carbonara.ParseMethod(m.String())
	if err != nil {
		return 0
	}
	return method
}

func (n *node) aggregationName() string {
	if n.kind == kindAggregate {
		return n.across.String()
	}
	return n.method.String()
}

// combines reports whether the method of several groups follows from theirs.
func (c *Combination) combines() bool {
	switch c.Method.Base() {
	case carbonara.Mean, carbonara.Sum, carbonara.Min, carbonara.Max, carbonara.Std, carbonara.Count:
		return true
	case carbonara.First, carbonara.Last:
		return !c.Across // it is unknown which metric's measure came first
	}
	if c.Method.IsFold() { // first and last are of one metric as well
		return !c.Across || !slices.Contains(c.Method.Columns(), carbonara.ColumnLast)
	}
	return c.OfSketches()
}

// OfSketches reports whether a combination is one of sketches.
func (o *Operation) OfSketches() bool {
	return slices.ContainsFunc(o.Combinations, func(c Combination) bool { return c.OfSketches() })
}

// OfSketches reports whether the method is a percentile, which follows from the sketches of groups.
func (c *Combination) OfSketches() bool { return c.Method.OfSketch() > 0 }

// Check returns an *InvalidError if the groups of a metric's plan do not tell the method of several.
func (c *Combination) Check(plan *carbonara.Plan) error {
	if c.OfSketches() && !plan.HasSketch() {
		return &InvalidError{Reason: c.Method.String() + " does not follow from what is stored of groups: the archive policy has no sketch"}
	}
	return nil
}

// Resampled returns the Combination that regroups one metric; the error is an *InvalidError.
func Resampled(method carbonara.Method, by Grouping) (*Combination, error) {
	c := &Combination{Method: method, Grouping: by}
	if !c.combines() {
		return nil, &InvalidError{Reason: method.String() + " does not follow from what is stored of groups"}
	}
	return c, nil
}

// Columns returns those of a metric's stored columns that the combination reads: the more of the moments there are, the
// more often sums are exact.
func (c *Combination) Columns(plan *carbonara.Plan) []carbonara.Column {
	if c.OfSketches() {
		return []carbonara.Column{carbonara.ColumnSketch}
	}
	var columns []carbonara.Column
	for _, column := range plan.Columns {
		if column.IsRate() != c.Method.IsRate() || column.Percentile() > 0 || column.IsSketch() {
			continue
		}
		base := column.Base()
		onlyIfAsked := column.HasThreshold() || base == carbonara.ColumnM2 || base == carbonara.ColumnFirst ||
			base == carbonara.ColumnLast
		if onlyIfAsked && !slices.Contains(c.Method.Columns(), column) {
			continue
		}
		columns = append(columns, column)
	}
	return columns
}
