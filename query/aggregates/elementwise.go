package aggregates

import (
	"math"
	"strings"
)

// binaryOperator is an operator between two numbers.
type binaryOperator struct {
	apply   func(a, b float64) float64
	logical func(a, b float64) float64 // between two booleans, giving one; nil: as between numbers
	boolean bool                       // gives booleans
}

func arithmetic(apply func(a, b float64) float64) *binaryOperator {
	return &binaryOperator{apply: apply}
}

func comparison(apply func(a, b float64) float64) *binaryOperator {
	return &binaryOperator{apply: apply, boolean: true}
}

func truth(holds bool) float64 {
	if holds {
		return 1
	}
	return 0
}

// binaryOperators, by all their names.
var binaryOperators = func() map[string]*binaryOperator {
	table := map[string]*binaryOperator{}
	add := func(operator *binaryOperator, names ...string) {
		for _, name := range names {
			table[name] = operator
		}
	}
	add(comparison(func(a, b float64) float64 { return truth(a == b) }), "=", "==", "eq")
	add(comparison(func(a, b float64) float64 { return truth(a < b) }), "<", "lt")
	add(comparison(func(a, b float64) float64 { return truth(a > b) }), ">", "gt")
	add(comparison(func(a, b float64) float64 { return truth(a <= b) }), "<=", "≤", "le")
	add(comparison(func(a, b float64) float64 { return truth(a >= b) }), ">=", "≥", "ge")
	add(comparison(func(a, b float64) float64 { return truth(a != b) }), "!=", "≠", "ne")
	add(arithmetic(modulo), "%", "mod")
	add(&binaryOperator{apply: func(a, b float64) float64 { return a + b }, logical: math.Max}, "+", "add")
	add(arithmetic(func(a, b float64) float64 { return a - b }), "-", "sub")
	add(&binaryOperator{apply: func(a, b float64) float64 { return a * b }, logical: math.Min}, "*", "×", "mul")
	add(arithmetic(func(a, b float64) float64 { return a / b }), "/", "÷", "div")
	add(arithmetic(math.Pow), "**", "^", "pow")
	add(arithmetic(clipMin), "clip_min")
	add(arithmetic(clipMax), "clip_max")
	add(&binaryOperator{apply: larger, logical: math.Max}, "max")
	return table
}()

// Operator returns an operator that stands between two numbers, by one of its names: it compares them, which gives 1 or
// 0, or calculates. It returns nil for others.
func Operator(name string) func(a, b float64) float64 {
	operator := binaryOperators[name]
	if operator == nil || name == "max" || strings.HasPrefix(name, "clip_") {
		return nil
	}
	return operator.apply
}

// unaryOperators, by all their names.
var unaryOperators = map[string]func(float64) float64{
	"abs": math.Abs, "absolute": math.Abs,
	"neg": negative, "negative": negative,
	"cos": math.Cos, "sin": math.Sin, "tan": math.Tan,
	"floor": math.Floor, "ceil": math.Ceil,
}

func negative(v float64) float64 { return -v }

// modulo has the sign of b, as in Python.
func modulo(a, b float64) float64 {
	m := math.Mod(a, b)
	switch {
	case b == 0 || m != m:
		return math.NaN()
	case m == 0:
		return math.Copysign(0, b)
	case (b < 0) != (m < 0):
		return m + b
	}
	return m
}

// larger ignores NaN where it can.
func larger(a, b float64) float64 {
	if a >= b || b != b {
		return a
	}
	return b
}

// clipMin raises v to low. NaN of either is handed on.
func clipMin(v, low float64) float64 {
	if v != v || v > low {
		return v
	}
	return low
}

// clipMax lowers v to high. NaN of either is handed on.
func clipMax(v, high float64) float64 {
	if v != v || v < high {
		return v
	}
	return high
}
