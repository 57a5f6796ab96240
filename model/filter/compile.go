package filter

import (
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
)

// Filter tells resources of one type that match from others. It may be used by many goroutines.
type Filter struct {
	kind   *model.ResourceType
	holds  condition // nil: all match
	bounds *Bounds   // nil: none
	ids    []uuid.UUID
	byID   bool // only resources with these ids can match
}

// condition is a part of a filter, ready to be asked.
type condition func(*model.Resource) truth

// Matches reports whether the filter holds for r.
func (f *Filter) Matches(r *model.Resource) bool { return f.holds == nil || f.holds(r) == yes }

// Type returns the type that the filter was compiled for.
func (f *Filter) Type() *model.ResourceType { return f.kind }

// IDs returns the IDs of all resources that can match, ascending, if the filter names them; else ok is false.
func (f *Filter) IDs() (ids []uuid.UUID, ok bool) { return f.ids, f.byID }

// Compile checks e against a resource type and reads its values. It returns a *model.FieldError for fields that the
// type does not have and values that do not fit.
func Compile(e *Expr, scope Scope) (*Filter, error) {
	f := &Filter{kind: scope.Type}
	if e == nil {
		return f, nil
	}
	var err error
	if f.holds, err = scope.compile(e); err != nil {
		return nil, err
	}
	f.bounds = scope.bounds(e)
	if f.ids, f.byID = scope.ids(e); f.byID {
		slices.SortFunc(f.ids, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
		f.ids = slices.Compact(f.ids)
	}
	return f, nil
}

func (s *Scope) compile(e *Expr) (condition, error) {
	operands := make([]condition, len(e.operands))
	for i, operand := range e.operands {
		var err error
		if operands[i], err = s.compile(operand); err != nil {
			return nil, err
		}
	}
	switch e.op {
	case opNot:
		return func(r *model.Resource) truth { return -operands[0](r) }, nil
	case opAnd:
		return func(r *model.Resource) truth {
			least := yes
			for _, holds := range operands {
				if least = min(least, holds(r)); least == no {
					break
				}
			}
			return least
		}, nil
	case opOr:
		return func(r *model.Resource) truth {
			most := no
			for _, holds := range operands {
				if most = max(most, holds(r)); most == yes {
					break
				}
			}
			return most
		}, nil
	}
	return s.compileComparison(e)
}

func (s *Scope) compileComparison(e *Expr) (condition, error) {
	c, derived := derivedColumns[e.field]
	if !derived {
		var ok bool
		if c, ok = s.column(e.field); !ok {
			reason := fmt.Sprintf("Resource type %s has no %s attribute", s.Type.Name, e.field)
			return nil, &model.FieldError{Field: e.field, Reason: reason}
		}
	}
	if derived && !fits(c, e.op) {
		return nil, invalidValue(c.name, e.values[0])
	}
	values := make([]any, 0, len(e.values))
	nulls := false
	for _, l := range e.values {
		if l == nil {
			nulls = true
			continue
		}
		value, err := s.value(c, l)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	switch {
	case e.op == opIn:
		return membership(c, values, nulls), nil
	case nulls && e.op == opEqual:
		return func(r *model.Resource) truth { return truthOf(c.get(r) == nil) }, nil
	case nulls && e.op == opNotEqual:
		return func(r *model.Resource) truth { return truthOf(c.get(r) != nil) }, nil
	case nulls, e.op == opLike && c.kind != kindText:
		return nil, invalidValue(c.name, e.values[0])
	case e.op == opLike:
		like := parsePattern(values[0].(string)).compile()
		return known(c, func(value any) bool { return like.matches(value.(string)) }), nil
	}
	return comparison(c, e.op, values[0]), nil
}

// fits reports whether a derived column can be compared by op.
func fits(c column, op operator) bool {
	if c.kind == kindTimespan {
		return op != opIn && op != opLike
	}
	return op == opEqual || op == opNotEqual || op == opLike
}

// known is a condition on values that are there.
func known(c column, holds func(value any) bool) condition {
	return func(r *model.Resource) truth {
		value := c.get(r)
		if value == nil {
			return unknown
		}
		return truthOf(holds(value))
	}
}

// membership is the condition of in. A null among the members may be anything.
func membership(c column, members []any, nulls bool) condition {
	set := make(map[any]struct{}, len(members)) // all kinds compare by ==
	for _, member := range members {
		set[member] = struct{}{}
	}
	return func(r *model.Resource) truth {
		value := c.get(r)
		if value == nil {
			return unknown
		}
		if _, found := set[value]; found {
			return yes
		}
		if nulls {
			return unknown
		}
		return no
	}
}

// comparison is the condition of =, !=, <, <=, > and >=.
func comparison(c column, op operator, with any) condition {
	switch op {
	case opEqual:
		return known(c, func(value any) bool { return value == with })
	case opNotEqual:
		return func(r *model.Resource) truth { return truthOf(c.get(r) != with) } // null differs from all values
	case opLess:
		return known(c, func(value any) bool { return c.kind.compare(value, with) < 0 })
	case opLessEqual:
		return known(c, func(value any) bool { return c.kind.compare(value, with) <= 0 })
	case opGreater:
		return known(c, func(value any) bool { return c.kind.compare(value, with) > 0 })
	}
	return known(c, func(value any) bool { return c.kind.compare(value, with) >= 0 })
}

// ids returns the IDs of all resources that can match e, which compiles, if it names them.
func (s *Scope) ids(e *Expr) (ids []uuid.UUID, ok bool) {
	switch e.op {
	case opEqual, opIn:
		if e.field != "id" {
			return nil, false
		}
		for _, l := range e.values {
			if l == nil { // nothing has no ID
				continue
			}
			value, err := s.value(columns["id"], l)
			if err != nil {
				return nil, false
			}
			ids = append(ids, value.(uuid.UUID))
		}
		return ids, true
	case opAnd:
		for _, operand := range e.operands {
			if some, found := s.ids(operand); found && (!ok || len(some) < len(ids)) {
				ids, ok = some, true
			}
		}
		return ids, ok
	case opOr:
		for _, operand := range e.operands {
			some, found := s.ids(operand)
			if !found {
				return nil, false
			}
			ids = append(ids, some...)
		}
		return ids, true
	}
	return nil, false
}
