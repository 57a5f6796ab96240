package filter

import (
	"encoding/json"
	"fmt"
)

// TreeError says what is wrong with a tree, and where.
type TreeError struct {
	Reason string // in the words of Gnocchi's validation
	Path   []any  // into the tree: keys (string) and positions (int)
}

func (e *TreeError) Error() string { return fmt.Sprintf("%s @ data%v", e.Reason, e.Path) }

// ParseTree reads a filter from JSON decoded into maps, lists, strings, json.Numbers, booleans and nil. An empty object
// is a nil Expr. Errors are *TreeError or a *model.FieldError.
func ParseTree(tree any) (*Expr, error) {
	if object, ok := tree.(map[string]any); ok && len(object) == 0 {
		return nil, nil
	}
	return parseTree(tree, nil)
}

func parseTree(tree any, path []any) (*Expr, error) {
	if len(path) > 2*maxDepth {
		return nil, errTooDeep
	}
	name, value, err := single(tree, path)
	if err != nil {
		return nil, err
	}
	path = append(path[:len(path):len(path)], name)
	op, ok := operators[name]
	switch {
	case !ok:
		return nil, &TreeError{"extra keys not allowed", path}
	case op == opNot:
		operand, err := parseTree(value, path)
		return &Expr{op: op, operands: []*Expr{operand}}, err
	case op == opAnd || op == opOr:
		return parseTrees(op, value, path)
	}
	return parseComparison(op, value, path)
}

// notID says that like does not go with an ID: it is no text.
const notID = "value must not be one of ['id']"

// single takes apart an object of one member.
func single(tree any, path []any) (string, any, error) {
	object, ok := tree.(map[string]any)
	switch {
	case !ok:
		return "", nil, &TreeError{"expected a dictionary", path}
	case len(object) < 1:
		return "", nil, &TreeError{"length of value must be at least 1", path}
	case len(object) > 1:
		return "", nil, &TreeError{"length of value must be at most 1", path}
	}
	for name, value := range object {
		return name, value, nil
	}
	panic("filter: an object of one member has none")
}

// parseTrees reads the operands of and and or.
func parseTrees(op operator, value any, path []any) (*Expr, error) {
	list, err := nonEmptyList(value, path)
	if err != nil {
		return nil, err
	}
	e := &Expr{op: op}
	for i, item := range list {
		operand, err := parseTree(item, append(path[:len(path):len(path)], i))
		if err != nil {
			return nil, err
		}
		e.operands = append(e.operands, operand)
	}
	return e, nil
}

// parseComparison reads {field: value}.
func parseComparison(op operator, value any, path []any) (*Expr, error) {
	field, value, err := single(value, path)
	if err != nil {
		return nil, err
	}
	path = append(path[:len(path):len(path)], field)
	e := &Expr{op: op, field: field}
	items, at := []any{value}, path
	switch op {
	case opLike:
		if field == "id" {
			return nil, &TreeError{notID, path}
		}
	case opIn:
		if items, err = nonEmptyList(value, path); err != nil {
			return nil, err
		}
	}
	for i, item := range items {
		if op == opIn {
			at = append(path[:len(path):len(path)], i)
		}
		switch item := item.(type) {
		case nil, bool, string:
			e.values = append(e.values, item)
		case json.Number:
			e.values = append(e.values, number(item))
		default:
			return nil, &TreeError{"expected str", at}
		}
	}
	return e, nil
}

func nonEmptyList(value any, path []any) ([]any, error) {
	list, ok := value.([]any)
	if !ok {
		return nil, &TreeError{"expected a list", path}
	}
	if len(list) == 0 {
		return nil, &TreeError{"length of value must be at least 1", path}
	}
	return list, nil
}
