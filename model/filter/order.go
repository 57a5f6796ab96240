package filter

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gnocco-db/gnocco/model"
)

// DefaultOrder is the sort keys of lists of resources unless told otherwise.
var DefaultOrder = []string{"revision_start:asc", "started_at:asc"}

// Order is a total order of resources, and of their states.
type Order struct{ keys []sortKey }

// SortKey is what an Order compares first, or next.
type SortKey struct {
	Column     string
	Descending bool
	NullsFirst bool
	get        func(*model.Resource) any
}

// Value returns what r is sorted by, nil for null; times to the microsecond.
func (k *SortKey) Value(r *model.Resource) any { return k.get(r) }

// Keys returns the sort keys. Resources that they leave equal are ordered by ID, ascending.
func (o *Order) Keys() []SortKey {
	keys := make([]SortKey, len(o.keys))
	for i, k := range o.keys {
		keys[i] = SortKey{Column: k.column.name, Descending: k.sign < 0, NullsFirst: k.null < 0, get: k.column.get}
	}
	return keys
}

type sortKey struct {
	column column
	sign   int // -1: descending
	null   int // of null against a value
}

// ParseOrder reads sort keys such as "started_at", "started_at:desc" and "ended_at:asc-nullsfirst". Resources that they
// leave equal are ordered by ID, then by the number of the state. Null counts as greater than all unless told
// otherwise. Errors are *model.FieldError.
func ParseOrder(keys []string, scope Scope) (*Order, error) {
	o := new(Order)
	for _, text := range keys {
		name, direction, _ := strings.Cut(text, ":")
		name = strings.TrimSpace(name)
		c, ok := scope.column(name)
		if !ok {
			return nil, badSort("Sort key supplied is invalid: %s", name)
		}
		key := sortKey{column: c, sign: 1}
		direction, nulls, hasNulls := strings.Cut(direction, "-")
		switch direction {
		case "", "asc":
		case "desc":
			key.sign = -1
		default:
			return nil, badSort(
				"Unknown sort direction, must be one of: asc, desc, and these with -nullsfirst or -nullslast")
		}
		key.null = key.sign
		switch {
		case !hasNulls:
		case nulls == "nullsfirst":
			key.null = -1
		case nulls == "nullslast":
			key.null = 1
		default:
			return nil, badSort(
				"Unknown sort direction, must be one of: asc, desc, and these with -nullsfirst or -nullslast")
		}
		o.keys = append(o.keys, key)
	}
	return o, nil
}

func badSort(format string, args ...any) error {
	return &model.FieldError{Field: "sort", Reason: "Invalid pagination: `" + fmt.Sprintf(format, args...) + "'"}
}

// Compare is negative if a comes before b.
func (o *Order) Compare(a, b *model.Resource) int {
	for i := range o.keys {
		if c := o.keys[i].compare(a, b); c != 0 {
			return c
		}
	}
	return compareStates(a, b)
}

// compareStates orders what is equal by an order's keys.
func compareStates(a, b *model.Resource) int {
	if c := model.CompareIDs(a.ID, b.ID); c != 0 {
		return c
	}
	return cmp.Compare(RevisionNumber(a), RevisionNumber(b))
}

// Sort sorts resources. It reads each one's values once.
func (o *Order) Sort(resources []*model.Resource) {
	type entry struct {
		resource *model.Resource
		values   []any
	}
	values := make([]any, 0, len(o.keys)*len(resources))
	entries := make([]entry, len(resources))
	for i, r := range resources {
		from := len(values)
		for j := range o.keys {
			values = append(values, o.keys[j].column.get(r))
		}
		entries[i] = entry{r, values[from:]}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		for i := range o.keys {
			if c := o.keys[i].compareValues(a.values[i], b.values[i]); c != 0 {
				return c
			}
		}
		return compareStates(a.resource, b.resource)
	})
	for i := range entries {
		resources[i] = entries[i].resource
	}
}

// SameTexts reports whether all sort keys of two resources are texts, and the same. If it is false they may still be
// the same.
func (o *Order) SameTexts(a, b *model.Resource) bool {
	for i := range o.keys {
		x, ok := o.keys[i].column.get(a).(string)
		y, ok2 := o.keys[i].column.get(b).(string)
		if !ok || !ok2 || x != y {
			return false
		}
	}
	return true
}

func (k *sortKey) compare(a, b *model.Resource) int {
	return k.compareValues(k.column.get(a), k.column.get(b))
}

func (k *sortKey) compareValues(x, y any) int {
	switch {
	case x == nil && y == nil:
		return 0
	case x == nil:
		return k.null
	case y == nil:
		return -k.null
	}
	return k.sign * k.column.kind.compare(x, y)
}
