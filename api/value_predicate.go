package api

import (
	"encoding/json"
	"math"
	"slices"
)

// valuePredicate is a condition on the value of an aggregate, as a function from it: what holds is not zero.
type valuePredicate struct {
	of   func(value float64) float64
	over func(values span) span // bounds what of answers for any of values
}

// holds tells whether p lets value through. NaN is something, as in Python.
func (p valuePredicate) holds(value float64) bool { return p.of(value) != 0 }

// valueOperator compares or calculates; 1 stands for true. A value divided by zero is infinite or NaN.
type valueOperator struct {
	of   func(a, b float64) float64
	over func(a, b span) span
}

// valueOperators are the operators by their names.
var valueOperators = func() map[string]valueOperator {
	operators := make(map[string]valueOperator)
	for _, o := range []struct {
		names []string
		valueOperator
	}{
		{[]string{"=", "==", "eq"}, valueOperator{equal, equalSpan}},
		{[]string{"!=", "≠", "ne"}, valueOperator{notEqual, notEqualSpan}},
		{[]string{"<", "lt"}, valueOperator{less, lessSpan}},
		{[]string{">", "gt"}, valueOperator{greater, greaterSpan}},
		{[]string{"<=", "≤", "le"}, valueOperator{lessOrEqual, lessOrEqualSpan}},
		{[]string{">=", "≥", "ge"}, valueOperator{greaterOrEqual, greaterOrEqualSpan}},
		{[]string{"%", "mod"}, valueOperator{modulo, unknownSpan}},
		{[]string{"+", "add"}, valueOperator{add, arithmeticSpan(add)}},
		{[]string{"-", "sub"}, valueOperator{subtract, arithmeticSpan(subtract)}},
		{[]string{"*", "×", "mul"}, valueOperator{multiply, multiplySpan}},
		{[]string{"/", "÷", "div"}, valueOperator{divide, divideSpan}},
		{[]string{"**", "^", "pow"}, valueOperator{math.Pow, unknownSpan}},
	} {
		for _, name := range o.names {
			operators[name] = o.valueOperator
		}
	}
	return operators
}()

func equal(a, b float64) float64          { return zeroOrOne(a == b) }
func notEqual(a, b float64) float64       { return zeroOrOne(a != b) }
func less(a, b float64) float64           { return zeroOrOne(a < b) }
func greater(a, b float64) float64        { return zeroOrOne(a > b) }
func lessOrEqual(a, b float64) float64    { return zeroOrOne(a <= b) }
func greaterOrEqual(a, b float64) float64 { return zeroOrOne(a >= b) }
func add(a, b float64) float64            { return a + b }
func subtract(a, b float64) float64       { return a - b }
func multiply(a, b float64) float64       { return a * b }
func divide(a, b float64) float64         { return a / b }

// modulo has the sign of b, as in Python.
func modulo(a, b float64) float64 {
	rest := math.Mod(a, b)
	if rest != 0 && (rest < 0) != (b < 0) {
		rest += b
	}
	return rest
}

func zeroOrOne(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// maxPredicateDepth is how deep a predicate may nest.
const maxPredicateDepth = 100

// valuePredicate reads {"and": [predicate …]}, {"or": [predicate …]} or an operation.
func (in input) valuePredicate() (valuePredicate, error) {
	name, operand, err := in.only()
	if err != nil {
		return valuePredicate{}, err
	}
	all := slices.Contains([]string{"and", "∧"}, name)
	switch {
	case name == "not":
		return valuePredicate{}, badRequest("Unknown operator not") // Gnocchi has the word, but does not know it
	case !all && name != "or" && name != "∨":
		return in.valueOperation()
	}
	list, ok := operand.value.([]any)
	if !ok {
		return valuePredicate{}, operand.fault("expected a list")
	}
	parts := make([]valuePredicate, len(list))
	for i, item := range list {
		if parts[i], err = operand.at(item, i).valuePredicate(); err != nil {
			return valuePredicate{}, err
		}
	}
	return joined(parts, all), nil
}

// joined holds where all parts do, or any.
func joined(parts []valuePredicate, all bool) valuePredicate {
	return valuePredicate{
		func(value float64) float64 {
			for _, part := range parts {
				if part.holds(value) != all {
					return zeroOrOne(!all)
				}
			}
			return zeroOrOne(all)
		},
		func(values span) span {
			may, must := all, all
			for _, part := range parts {
				s := part.over(values) // once: parts nest
				if all {
					may, must = may && s.mayHold(), must && s.mustHold()
				} else {
					may, must = may || s.mayHold(), must || s.mustHold()
				}
			}
			return truth(may, must)
		},
	}
}

// valueOperation reads {operator: number}, whose left operand is the value, or {operator: [operand, operand]}, operands
// being numbers or operations.
func (in input) valueOperation() (valuePredicate, error) {
	name, operand, err := in.only()
	if err != nil {
		return valuePredicate{}, err
	}
	operator, ok := valueOperators[name]
	if !ok {
		return valuePredicate{}, operand.fault("extra keys not allowed")
	}
	list, ok := operand.value.([]any)
	if !ok {
		constant, err := operand.number()
		if err != nil {
			return valuePredicate{}, err
		}
		return valuePredicate{
			func(value float64) float64 { return operator.of(value, constant) },
			func(values span) span { return operator.over(values, pointSpan(constant)) },
		}, nil
	}
	if len(list) != 2 {
		return valuePredicate{}, operand.fault("length of value must be 2")
	}
	var sides [2]valuePredicate
	for i, item := range list {
		side := operand.at(item, i)
		if _, nested := item.(map[string]any); nested {
			sides[i], err = side.valueOperation()
		} else {
			var constant float64
			constant, err = side.number()
			sides[i] = valuePredicate{func(float64) float64 { return constant }, func(span) span { return pointSpan(constant) }}
		}
		if err != nil {
			return valuePredicate{}, err
		}
	}
	return valuePredicate{
		func(value float64) float64 { return operator.of(sides[0].of(value), sides[1].of(value)) },
		func(values span) span { return operator.over(sides[0].over(values), sides[1].over(values)) },
	}, nil
}

// only takes apart an object of one member.
func (in input) only() (string, input, error) {
	object, ok := in.value.(map[string]any)
	switch {
	case !ok:
		return "", in, in.fault("expected a dictionary")
	case len(object) == 0:
		return "", in, in.fault("length of value must be at least 1")
	case len(object) > 1:
		return "", in, in.fault("length of value must be at most 1")
	case len(in.path) > 2*maxPredicateDepth:
		return "", in, badRequest("Invalid query: nested too deep")
	}
	for name, value := range object {
		return name, in.at(value, name), nil
	}
	panic("api: an object of one member has none")
}

// number returns a number; booleans are 1 and 0, as in Python.
func (in input) number() (float64, error) {
	switch v := in.value.(type) {
	case json.Number:
		if f, err := v.Float64(); err == nil {
			return f, nil
		}
	case bool:
		return zeroOrOne(v), nil
	}
	return 0, in.fault("expected float")
}
