package columns

import (
	"math"
	"slices"

	"github.com/prometheus/prometheus/promql/parser"
)

// operation is what happens to each value of a row. ok is false if there is none afterwards.
type operation struct {
	apply func(v float64) (_ float64, ok bool)
	drops bool // the metric's name
}

type operations []operation

func (all operations) drop() bool {
	return slices.ContainsFunc(all, func(o operation) bool { return o.drops })
}

// apply changes a row and reports whether it has any value.
func (all operations) apply(row []float64) (any bool) {
	for _, o := range all {
		for i, v := range row {
			if !isAbsent(v) {
				var ok bool
				if row[i], ok = o.apply(v); !ok {
					row[i] = absent
				}
			}
		}
	}
	return hasValue(row)
}

func hasValue(row []float64) bool {
	return slices.ContainsFunc(row, func(v float64) bool { return !isAbsent(v) })
}

func negated(v float64) (float64, bool) { return -v, true }

// mathFunctions are those of one value.
var mathFunctions = map[string]func(float64) float64{
	"abs": math.Abs, "ceil": math.Ceil, "floor": math.Floor, "exp": math.Exp, "sqrt": math.Sqrt, "ln": math.Log,
	"log2": math.Log2, "log10": math.Log10,
}

// ofFunction returns the pipeline of a function of vectors, nil for others.
func ofFunction(call *parser.Call, inner Inner) *Pipeline {
	if len(call.Args) == 0 || call.Args[0].Type() != parser.ValueTypeVector {
		return nil
	}
	var parameters []float64
	for _, arg := range call.Args[1:] {
		v, ok := Constant(arg)
		if !ok {
			return nil
		}
		parameters = append(parameters, v)
	}
	apply := valueFunction(call.Func.Name, parameters)
	if apply == nil {
		return nil
	}
	return Compile(call.Args[0], inner).with(operation{apply: apply, drops: true})
}

func valueFunction(name string, parameters []float64) func(float64) (float64, bool) {
	if f := mathFunctions[name]; f != nil {
		return func(v float64) (float64, bool) { return f(v), true }
	}
	switch name {
	case "round":
		nearest := 1.0
		if len(parameters) > 0 {
			nearest = parameters[0]
		}
		inverse := 1.0 / nearest
		return func(v float64) (float64, bool) { return math.Floor(v*inverse+0.5) / inverse, true }
	case "clamp":
		return clamped(parameters[0], parameters[1])
	case "clamp_min":
		return clamped(parameters[0], math.Inf(1))
	case "clamp_max":
		return clamped(math.Inf(-1), parameters[0])
	}
	return nil
}

func clamped(lowest, highest float64) func(float64) (float64, bool) {
	if highest < lowest {
		return func(float64) (float64, bool) { return 0, false }
	}
	return func(v float64) (float64, bool) { return math.Max(lowest, math.Min(highest, v)), true }
}

// ofBinary returns the pipeline of an operator between a vector and a number, nil for others.
func ofBinary(e *parser.BinaryExpr, inner Inner) *Pipeline {
	vector, number, swapped := e.LHS, e.RHS, false
	if vector.Type() != parser.ValueTypeVector {
		vector, number, swapped = e.RHS, e.LHS, true
	}
	with, ok := Constant(number)
	if !ok || vector.Type() != parser.ValueTypeVector {
		return nil
	}
	of := Operator(e.Op, e.ReturnBool)
	if of == nil {
		return nil
	}
	apply := func(v float64) (float64, bool) { return of(v, with) }
	filters := e.Op.IsComparisonOperator() && !e.ReturnBool
	switch {
	case swapped && filters: // the vector's value stays
		apply = func(v float64) (float64, bool) { _, ok := of(with, v); return v, ok }
	case swapped:
		apply = func(v float64) (float64, bool) { return of(with, v) }
	}
	return Compile(vector, inner).with(operation{apply, !filters})
}

var arithmetics = map[parser.ItemType]func(a, b float64) float64{
	parser.ADD: func(a, b float64) float64 { return a + b }, parser.SUB: func(a, b float64) float64 { return a - b },
	parser.MUL: func(a, b float64) float64 { return a * b }, parser.DIV: func(a, b float64) float64 { return a / b },
	parser.POW: math.Pow, parser.MOD: math.Mod, parser.ATAN2: math.Atan2,
}

var comparisons = map[parser.ItemType]func(a, b float64) bool{
	parser.EQLC: func(a, b float64) bool { return a == b }, parser.NEQ: func(a, b float64) bool { return a != b },
	parser.GTR: func(a, b float64) bool { return a > b }, parser.LSS: func(a, b float64) bool { return a < b },
	parser.GTE: func(a, b float64) bool { return a >= b }, parser.LTE: func(a, b float64) bool { return a <= b },
}

// Operator returns an arithmetic operator or a comparison of two values, nil for another operator. Ok is false if there
// is no result.
func Operator(op parser.ItemType, returnBool bool) func(a, b float64) (_ float64, ok bool) {
	if f := arithmetics[op]; f != nil {
		return func(a, b float64) (float64, bool) { return f(a, b), true }
	}
	f := comparisons[op]
	switch {
	case f == nil:
		return nil
	case returnBool:
		return func(a, b float64) (float64, bool) {
			if f(a, b) {
				return 1, true
			}
			return 0, true
		}
	}
	return func(a, b float64) (float64, bool) { return a, f(a, b) }
}
