package model

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
)

// AttributeKind is the type of an attribute's values.
type AttributeKind uint8

// The kinds, and the Go type of their values.
const (
	KindString   AttributeKind = iota + 1 // string
	KindUUID                              // uuid.UUID
	KindNumber                            // float64, never NaN or infinite
	KindBool                              // bool
	KindDatetime                          // carbonara.Timestamp
)

var attributeKinds = []string{"", "string", "uuid", "number", "bool", "datetime"}

// String returns the name that the REST API has for k.
func (k AttributeKind) String() string { return attributeKinds[k] }

// ParseAttributeKind is String's inverse.
func ParseAttributeKind(name string) (AttributeKind, bool) {
	i := slices.Index(attributeKinds, name)
	return AttributeKind(max(i, 0)), i > 0
}

// Attribute is one field that resources of a type have. Once in a type it is never modified.
type Attribute struct {
	Name     string
	Kind     AttributeKind
	Required bool // never null

	MinLength, MaxLength int      // of a string, in characters
	Min, Max             *float64 // of a number; nil for no limit

	// Fill is, in what a client sends, the value for resources that are there already and have none; nil for null.
	Fill any

	// Eras are what the attribute has been since it was added to its type, oldest first: never empty in a type.
	Eras []Era
}

// Era is a time of an attribute that began with filling in a value where there was none. Resources store a value under
// the era in which they were written, so that filling in touches none of them.
type Era struct {
	ID   uint32 // no other era of the type has it, nor ever had
	Fill any    // for resources of before that have null, or nothing
}

// MaxStringLength is the most characters that a string attribute can have. Gnocchi took 255 up to version 4.4.
const MaxStringLength = 256

// maxAttributeNameLength is in characters.
const maxAttributeNameLength = 63

// reservedAttributes are what all resources have.
var reservedAttributes = []string{
	"id", "original_resource_id", "type", "metrics",
	"revision", "revision_start", "revision_end", "started_at", "ended_at",
	"user_id", "project_id", "creator", "created_by_user_id", "created_by_project_id", "get_metric",
}

// attributeName says how names begin; Gnocchi lets anything follow.
var attributeName = regexp.MustCompile(`^[a-zA-Z0-9][^\x00]*$`)

// validate returns a *FieldError if no type can have a.
func (a *Attribute) validate() error {
	switch {
	case !attributeName.MatchString(a.Name), !utf8.ValidString(a.Name), slices.Contains(reservedAttributes, a.Name),
		utf8.RuneCountInString(a.Name) > maxAttributeNameLength:
		return attributeFault("Resource attribute name %s is invalid", a.Name)
	case a.Kind < KindString || a.Kind > KindDatetime:
		return attributeFault("Resource attribute %s has no type", a.Name)
	case a.Kind == KindString && a.MinLength > a.MaxLength:
		return invalidLimits(strconv.Itoa(a.MinLength), strconv.Itoa(a.MaxLength))
	case a.Kind == KindNumber && a.Min != nil && a.Max != nil && *a.Min > *a.Max:
		return invalidLimits(fmt.Sprint(*a.Min), fmt.Sprint(*a.Max))
	case a.Fill != nil && !a.Kind.Holds(a.Fill):
		return a.invalidFill("expected " + a.Kind.String())
	}
	return nil
}

func attributeFault(format string, args ...any) error {
	return &FieldError{"attributes", fmt.Sprintf(format, args...)}
}

func invalidLimits(low, high string) error {
	return attributeFault("Resource attribute value min (or min_length) %s "+
		"must be less than or equal to max (or max_length) %s!", low, high)
}

func (a *Attribute) invalidFill(reason string) error {
	return attributeFault("Option 'fill' of resource attribute %s is invalid: %s", a.Name, reason)
}

// Holds reports whether a value that is not null is of kind k.
func (k AttributeKind) Holds(value any) bool {
	switch v := value.(type) {
	case string:
		return k == KindString
	case uuid.UUID:
		return k == KindUUID
	case float64:
		return k == KindNumber && !math.IsNaN(v) && !math.IsInf(v, 0)
	case bool:
		return k == KindBool
	case carbonara.Timestamp:
		return k == KindDatetime && v.Valid()
	}
	return false
}

// Allows reports whether a value of a's kind, or null, is within its limits.
func (a *Attribute) Allows(value any) bool {
	switch v := value.(type) {
	case string:
		n := utf8.RuneCountInString(v)
		return a.MinLength <= n && n <= a.MaxLength
	case float64:
		return (a.Min == nil || *a.Min <= v) && (a.Max == nil || v <= *a.Max)
	}
	return true
}

// Narrows reports whether values that before allows may be beyond the limits of a.
func (a *Attribute) Narrows(before *Attribute) bool {
	beyond := func(now, then *float64, sign float64) bool {
		return now != nil && (then == nil || *now*sign < *then*sign)
	}
	return a.MinLength > before.MinLength || a.MaxLength < before.MaxLength ||
		beyond(a.Min, before.Min, -1) || beyond(a.Max, before.Max, 1)
}

// same reports whether clients would see no difference between a and b.
func (a *Attribute) same(b *Attribute) bool {
	equal := func(x, y *float64) bool { return x == y || x != nil && y != nil && *x == *y }
	return a.Kind == b.Kind && a.Required == b.Required && a.MinLength == b.MinLength && a.MaxLength == b.MaxLength &&
		equal(a.Min, b.Min) && equal(a.Max, b.Max)
}

// EraValue is what a resource stores for an attribute, null included.
type EraValue struct {
	Era   uint32
	Value any
}

// Resolve returns the value of a resource's attribute, nil for null, from all that the resource stores.
func (a *Attribute) Resolve(stored []EraValue) any {
	var value any
	for _, era := range a.Eras {
		if value == nil {
			value = era.Fill
		}
		for _, v := range stored {
			if v.Era == era.ID {
				value = v.Value
			}
		}
	}
	return value
}

// CurrentEra returns the ID under which values are stored now.
func (a *Attribute) CurrentEra() uint32 { return a.Eras[len(a.Eras)-1].ID }

// MarshalJSON shows a as the REST API does.
func (a *Attribute) MarshalJSON() ([]byte, error) {
	shown := map[string]any{"type": a.Kind.String(), "required": a.Required}
	switch a.Kind {
	case KindString:
		shown["min_length"], shown["max_length"] = a.MinLength, a.MaxLength
	case KindNumber:
		shown["min"], shown["max"] = a.Min, a.Max
	}
	return json.Marshal(shown)
}
