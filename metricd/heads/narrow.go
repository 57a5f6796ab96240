package heads

import (
	"slices"

	"github.com/gnocco-db/gnocco/carbonara"
)

// narrow is a plan of the columns that reads ask for. One read after the other asks for the same.
type narrow struct {
	of      *carbonara.Plan
	columns []carbonara.Column
	plan    *carbonara.Plan
	open    []float64 // memory of row
}

// set makes plan that of the columns of another plan.
func (n *narrow) set(of *carbonara.Plan, columns []carbonara.Column) {
	if n.of != of || !slices.Equal(n.columns, columns) {
		n.of, n.columns, n.plan = of, append(n.columns[:0], columns...), of.Narrow(columns)
	}
}

// row returns what of an open row belongs to plan, nil for nil.
func (n *narrow) row(open []float64) []float64 {
	if open == nil {
		return nil
	}
	n.open = n.of.NarrowOpen(n.plan, n.open[:0], open)
	return n.open
}
