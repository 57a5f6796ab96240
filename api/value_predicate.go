package api

import (
	"encoding/json"
	"math"
	"slices"
)

// valuePredicate is a condition on the value of an aggregate, as a function from it: what holds is not zero.
type valuePredicate func(value float64) float64

// holds tells whether p lets value through. NaN is something, as in Python.
func (p valuePredicate) holds(value float64) bool { return p(value) != 0 }

// valueOperators compare or calculate; 1 stands for true. A value divided by zero is infinite or NaN.
var valueOperators = map[string]func(a, b float64) float64{
	"=": equal, "==": equal, "eq": equal,
	"!=": notEqual, "≠": notEqual, "ne": notEqual,
	"<": less, "lt": less,
	">": greater, "gt": greater,
	"<=": lessOrEqual, "≤": lessOrEqual, "le": lessOrEqual,
	">=": greaterOrEqual, "≥": greaterOrEqual, "ge": greaterOrEqual,
	"%": modulo, "mod": modulo,
	"+": add, "add": add,
	"-": subtract, "sub": subtract,
	"*": multiply, "×": multiply, "mul": multiply,
	"/": divide, "÷": divide, "div": divide,
	"**": math.Pow, "^": math.Pow, "pow": math.Pow,
}

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
		return nil, err
	}
	all := slices.Contains([]string{"and", "∧"}, name)
	switch {
	case name == "not":
		return nil, badRequest("Unknown operator not") // Gnocchi has the word, but does not know it
	case !all && name != "or" && name != "∨":
		return in.valueOperation()
	}
	list, ok := operand.value.([]any)
	if !ok {
		return nil, operand.fault("expected a list")
	}
	parts := make([]valuePredicate, len(list))
	for i, item := range list {
		if parts[i], err = operand.at(item, i).valuePredicate(); err != nil {
			return nil, err
		}
	}
	return func(value float64) float64 {
		for _, part := range parts {
			if part.holds(value) != all {
				return zeroOrOne(!all)
			}
		}
		return zeroOrOne(all)
	}, nil
}

// valueOperation reads {operator: number}, whose left operand is the value, or {operator: [operand, operand]}, operands
// being numbers or operations.
func (in input) valueOperation() (valuePredicate, error) {
	name, operand, err := in.only()
	if err != nil {
		return nil, err
	}
	operator, ok := valueOperators[name]
	if !ok {
		return nil, operand.fault("extra keys not allowed")
	}
	list, ok := operand.value.([]any)
	if !ok {
		constant, err := operand.number()
		if err != nil {
			return nil, err
		}
		return func(value float64) float64 { return operator(value, constant) }, nil
	}
	if len(list) != 2 {
		return nil, operand.fault("length of value must be 2")
	}
	var sides [2]valuePredicate
	for i, item := range list {
		side := operand.at(item, i)
		if _, nested := item.(map[string]any); nested {
			sides[i], err = side.valueOperation()
		} else {
			var constant float64
			constant, err = side.number()
			sides[i] = func(float64) float64 { return constant }
		}
		if err != nil {
			return nil, err
		}
	}
	return func(value float64) float64 { return operator(sides[0](value), sides[1](value)) }, nil
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
