package query

import (
	"encoding/json"
	"slices"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/aggregates"
)

// Predicate is a condition on the value of an aggregate, as a function from it: the condition holds if the result is
// not zero.
type Predicate struct {
	of    func(value float64) float64
	terms int
}

// Terms returns how many operations a value goes through at most.
func (p Predicate) Terms() int { return p.terms }

// Holds reports whether p lets value through. NaN is something, as in Python.
func (p Predicate) Holds(value float64) bool { return p.of(value) != 0 }

func zeroOrOne(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// maxPredicateDepth is how deep a predicate may nest.
const maxPredicateDepth = 100

// ParsePredicate reads a condition from decoded JSON, whose numbers are json.Numbers. The error is a *PredicateError or
// a *model.FieldError.
func ParsePredicate(value any) (Predicate, error) { return part{value: value}.predicate() }

// part is a part of a condition in JSON, and the path to it.
type part struct {
	value any
	path  []any // strings and ints
}

func (p part) at(value, step any) part { return part{value, append(slices.Clip(p.path), step)} }

func (p part) fault(reason string) error { return &PredicateError{p.path, reason} }

// predicate reads {"and": [predicate …]}, {"or": [predicate …]} or an operation.
func (p part) predicate() (Predicate, error) {
	name, operand, err := p.only()
	if err != nil {
		return Predicate{}, err
	}
	all := slices.Contains([]string{"and", "∧"}, name)
	switch {
	case name == "not": // Gnocchi's grammar has the word, but Gnocchi does not know the operator
		return Predicate{}, &model.FieldError{Field: "query", Reason: "Unknown operator not"}
	case !all && name != "or" && name != "∨":
		return p.operation()
	}
	list, ok := operand.value.([]any)
	if !ok {
		return Predicate{}, operand.fault("expected a list")
	}
	parts := make([]Predicate, len(list))
	for i, item := range list {
		if parts[i], err = operand.at(item, i).predicate(); err != nil {
			return Predicate{}, err
		}
	}
	return joined(parts, all), nil
}

// joined holds where all parts do, or any.
func joined(parts []Predicate, all bool) Predicate {
	terms := 0
	for _, part := range parts {
		terms += part.terms
	}
	return Predicate{func(value float64) float64 {
		for _, part := range parts {
			if part.Holds(value) != all {
				return zeroOrOne(!all)
			}
		}
		return zeroOrOne(all)
	}, terms}
}

// operation reads {operator: number}, whose left operand is the value, or {operator: [operand, operand]}, operands
// being numbers or operations.
func (p part) operation() (Predicate, error) {
	name, operand, err := p.only()
	if err != nil {
		return Predicate{}, err
	}
	operator := aggregates.Operator(name)
	if operator == nil {
		return Predicate{}, operand.fault("extra keys not allowed")
	}
	list, ok := operand.value.([]any)
	if !ok {
		constant, err := operand.number()
		if err != nil {
			return Predicate{}, err
		}
		return Predicate{func(value float64) float64 { return operator(value, constant) }, 1}, nil
	}
	if len(list) != 2 {
		return Predicate{}, operand.fault("length of value must be 2")
	}
	var sides [2]Predicate
	for i, item := range list {
		side := operand.at(item, i)
		if _, nested := item.(map[string]any); nested {
			sides[i], err = side.operation()
		} else {
			var constant float64
			constant, err = side.number()
			sides[i].of = func(float64) float64 { return constant }
		}
		if err != nil {
			return Predicate{}, err
		}
	}
	return Predicate{func(value float64) float64 { return operator(sides[0].of(value), sides[1].of(value)) },
		1 + sides[0].terms + sides[1].terms}, nil
}

// only takes apart an object of one member.
func (p part) only() (string, part, error) {
	object, ok := p.value.(map[string]any)
	switch {
	case !ok:
		return "", p, p.fault("expected a dictionary")
	case len(object) == 0:
		return "", p, p.fault("length of value must be at least 1")
	case len(object) > 1:
		return "", p, p.fault("length of value must be at most 1")
	case len(p.path) > 2*maxPredicateDepth:
		return "", p, &model.FieldError{Field: "query", Reason: "Invalid query: nested too deep"}
	}
	for name, value := range object {
		return name, p.at(value, name), nil
	}
	panic("query: an object of one member has none")
}

// number returns a number; booleans are 1 and 0, as in Python.
func (p part) number() (float64, error) {
	switch v := p.value.(type) {
	case json.Number:
		if f, err := v.Float64(); err == nil {
			return f, nil
		}
	case bool:
		return zeroOrOne(v), nil
	}
	return 0, p.fault("expected float")
}
