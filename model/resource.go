package model

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
)

// GenericType is the resource type that every store has, and as which resources of any type can be read.
const GenericType = "generic"

// Resource is a thing that is measured; it names metrics.
type Resource struct {
	ID            uuid.UUID
	OriginalID    string // as the client wrote it
	Type          string
	Creator       string
	UserID        *string // nil for none
	ProjectID     *string // nil for none
	StartedAt     carbonara.Timestamp
	EndedAt       *carbonara.Timestamp // nil: not ended
	RevisionStart carbonara.Timestamp
	RevisionEnd   *carbonara.Timestamp // nil: this is the live revision
	Revision      uint64               // number of a past state, counted over all resources from 1; 0: the live one

	Attributes Values // those of its type, all of them, in the order of ResourceType.Attributes

	Metrics map[string]uuid.UUID // by name; nil where it was not read
}

// Value is an attribute of a resource.
type Value struct {
	Name  string
	Value any // nil for null, else of the Go type of its AttributeKind; two values can be compared by ==
}

// Values are the attributes of a resource, by name, ascending.
type Values []Value

// Set gives an attribute a value, in its place by name.
func (v *Values) Set(name string, value any) {
	i, ok := slices.BinarySearchFunc(*v, name, func(item Value, name string) int {
		return strings.Compare(item.Name, name)
	})
	if ok {
		(*v)[i].Value = value
	} else {
		*v = slices.Insert(*v, i, Value{name, value})
	}
}

// Get returns the value of an attribute, nil if it is null, and whether there is such an attribute.
func (v Values) Get(name string) (value any, ok bool) {
	for i := range v {
		if v[i].Name == name {
			return v[i].Value, true
		}
	}
	return nil, false
}

// Validate returns a *FieldError if r cannot be kept.
func (r *Resource) Validate() error {
	switch {
	case r.ID == uuid.Nil:
		return &FieldError{"id", "id must be given"}
	case r.EndedAt != nil && r.StartedAt > *r.EndedAt:
		return &FieldError{"ended_at", "Start timestamp cannot be after end timestamp"}
	}
	return checkName("type", r.Type)
}

// resourceIDNamespace makes UUIDs of the texts that are none. It is Gnocchi's, so that IDs are the same in both.
var resourceIDNamespace = uuid.MustParse("0a7a15ff-aa13-4ac2-897c-9bdf30ce175b")

// maxResourceIDLength is in characters. Gnocchi took 255 at first, 289 since.
const maxResourceIDLength = 289

// ResourceID returns the ID of the resource that a client calls text: the UUID that text is, in any form, or else one
// made of text and its creator ("" for none), so that two users may both have a "web". The error is a *FieldError.
func ResourceID(text, creator string) (uuid.UUID, error) {
	if strings.Contains(text, "/") {
		return uuid.Nil, &FieldError{"id", "'/' is not supported in resource id"}
	}
	if id, err := ParseUUID(text); err == nil {
		return id, nil
	}
	if utf8.RuneCountInString(text) > maxResourceIDLength {
		return uuid.Nil, &FieldError{"id",
			fmt.Sprintf("transformable resource id >%d max allowed characters", maxResourceIDLength)}
	}
	return uuid.NewSHA1(resourceIDNamespace, []byte(text+"\x00"+cmp.Or(creator, "\x00"))), nil
}

// ParseUUID reads a UUID in the forms that Python does: 32 hexadecimal digits of any case, with hyphens wherever,
// perhaps in braces or after "urn:uuid:".
func ParseUUID(text string) (uuid.UUID, error) {
	if len(text) == 36 { // nearly all
		if id, err := uuid.Parse(text); err == nil {
			return id, nil
		}
	}
	var id uuid.UUID
	digits := strings.ReplaceAll(strings.ReplaceAll(text, "urn:", ""), "uuid:", "")
	digits = strings.ReplaceAll(strings.Trim(digits, "{}"), "-", "")
	if len(digits) != 2*len(id) {
		return uuid.Nil, fmt.Errorf("not a UUID: %q", text)
	}
	if _, err := hex.Decode(id[:], []byte(digits)); err != nil {
		return uuid.Nil, fmt.Errorf("not a UUID: %q", text)
	}
	return id, nil
}
