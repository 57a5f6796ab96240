package filter

import "github.com/gnocco-db/gnocco/model"

// Expr is a filter as it was written, not yet checked against a resource type. A nil Expr lets everything through.
type Expr struct {
	op       operator
	operands []*Expr   // of and, or, not
	field    string    // of a comparison
	values   []literal // of a comparison: one, or those of "in"
}

// Terms returns how many comparisons a resource is asked for at most.
func (e *Expr) Terms() int {
	if e == nil {
		return 0
	}
	if len(e.operands) == 0 {
		return 1
	}
	terms := 0
	for _, operand := range e.operands {
		terms += operand.Terms()
	}
	return terms
}

// literal is a value as written: nil, a bool, a string or a number.
type literal any

// number is how a number was written: which value it is depends on what it is compared with.
type number string

// operator is what an Expr does.
type operator uint8

const (
	opAnd operator = iota
	opOr
	opNot
	opEqual
	opNotEqual
	opLess
	opLessEqual
	opGreater
	opGreaterEqual
	opIn
	opLike
)

// operators are their names in trees. In text, names are the same but for "==", see text.go.
var operators = map[string]operator{
	"and": opAnd, "∧": opAnd,
	"or": opOr, "∨": opOr,
	"not": opNot,
	"=":   opEqual, "==": opEqual, "eq": opEqual,
	"!=": opNotEqual, "≠": opNotEqual, "ne": opNotEqual,
	"<": opLess, "lt": opLess,
	"<=": opLessEqual, "≤": opLessEqual, "le": opLessEqual,
	">": opGreater, "gt": opGreater,
	">=": opGreaterEqual, "≥": opGreaterEqual, "ge": opGreaterEqual,
	"in":   opIn,
	"like": opLike,
}

// maxDepth is how deep a filter may nest. It bounds the stack; no filter that anyone means comes near it.
const maxDepth = 200

var errTooDeep = &model.FieldError{Field: "filter", Reason: "Invalid filter: nested too deep"}

// truth is what a condition is: SQL knows a third, where a value that it asks about is null.
type truth int8

const (
	no      truth = -1
	unknown truth = 0
	yes     truth = 1
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}
