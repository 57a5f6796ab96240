package aggregates

import (
	"strconv"
	"strings"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
)

// Operation is a tree of operations that was found valid. It never changes, and may be evaluated many times at once.
type Operation struct {
	References   []Reference   // what to read: each once, in the order in which the operation names them; never empty
	Combinations []Combination // of an Exact operation; empty for others
	root         *node
}

// Reference names series of aggregates: a metric, by ID or by a pattern of names, and an aggregation method.
type Reference struct {
	Name, Aggregation string
}

// A Grouping says into which groups a resample puts aggregates.
type Grouping interface {
	// Group returns the number of the group that t falls into. Numbers ascend with time.
	Group(t carbonara.Timestamp) int64
	// Start is when a group begins.
	Start(group int64) carbonara.Timestamp
}

// Symmetric reports whether the result is one series, of all that one reference names: their order makes no difference
// but for the rounding of sums, and nothing of them is shown.
func (o *Operation) Symmetric() bool {
	across := o.root.kind == kindAggregate ||
		o.root.kind == kindCombined && o.Combinations[o.root.combination].Across
	return across && len(o.References) == 1
}

// kind says how a node is evaluated.
type kind uint8

const (
	kindNumber kind = iota
	kindMetric
	kindUnary
	kindBinary
	kindClip
	kindAggregate
	kindRolling
	kindResample
	kindRateOfChange
	kindRateOfChangeSec
	kindCombined // in an Exact operation
)

// node is one operation, or one of its operands.
type node struct {
	kind       kind
	name       string  // as it was written
	number     float64 // kindNumber
	references []int   // kindMetric: indexes into Operation.References
	unary      func(float64) float64
	binary     *binaryOperator
	across     acrossMethod     // kindAggregate, kindRolling
	method     carbonara.Method // kindResample
	window     int              // kindRolling: rows
	grouping   Grouping         // kindResample
	width      time.Duration    // kindResample: of a group; 0 where it is not fixed
	operands   []*node

	combination int // kindCombined: index into Operation.Combinations; the only operand is what it was
}

// width groups by a fixed width, counted from 1970.
type width time.Duration

func (w width) Group(t carbonara.Timestamp) int64     { return int64(t) / int64(w) }
func (w width) Start(group int64) carbonara.Timestamp { return carbonara.Timestamp(group * int64(w)) }

// Reaggregate returns what the aggregation API before operations did: the method's aggregates of every reference,
// regrouped first unless grouping is nil, then aggregated across. It returns an *InvalidError if across is no method.
func Reaggregate(references []Reference, across string, method carbonara.Method, grouping Grouping) (
	*Operation, error) {
	if len(references) == 0 {
		return nil, ErrNoMetric
	}
	if across == method.String() {
		across = method.OfAggregates().String()
	}
	by, ok := parseAcrossMethod(across)
	if !ok {
		return nil, &InvalidError{Reason: "'" + across + "' cannot aggregate across metrics"}
	}
	operand := &node{kind: kindMetric, name: "metric", references: make([]int, len(references))}
	for i := range references {
		operand.references[i] = i
	}
	if grouping != nil {
		metrics := []*node{operand}
		operand = &node{kind: kindResample, name: "resample", method: method.OfAggregates(), grouping: grouping,
			operands: metrics}
	}
	root := &node{kind: kindAggregate, name: "aggregate", across: by, operands: []*node{operand}}
	return &Operation{References: references, root: root}, nil
}

// text writes n as an S-expression, for errors.
func (o *Operation) text(n *node) string {
	var b strings.Builder
	o.write(&b, n)
	return clipped(b.String(), 200)
}

func (o *Operation) write(b *strings.Builder, n *node) {
	if n.kind == kindNumber {
		b.WriteString(strconv.FormatFloat(n.number, 'g', -1, 64))
		return
	}
	if n.kind == kindCombined {
		o.write(b, n.operands[0])
		return
	}
	b.WriteString("(" + n.name)
	switch n.kind {
	case kindMetric:
		for _, i := range n.references {
			b.WriteString(" (" + o.References[i].Name + " " + o.References[i].Aggregation + ")")
		}
	case kindAggregate:
		b.WriteString(" " + n.across.String())
	case kindRolling:
		b.WriteString(" " + n.across.String() + " " + strconv.Itoa(n.window))
	case kindResample:
		b.WriteString(" " + n.method.String() + " " + n.width.String())
	}
	for _, operand := range n.operands {
		b.WriteByte(' ')
		o.write(b, operand)
	}
	b.WriteByte(')')
}
