package model

import (
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"gnocco/carbonara"
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

	Metrics map[string]uuid.UUID // by name
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
		return uuid.Nil, &FieldError{"id", fmt.Sprintf("transformable resource id >%d max allowed characters", maxResourceIDLength)}
	}
	if creator == "" {
		creator = "\x00"
	}
	return uuid.NewSHA1(resourceIDNamespace, []byte(text+"\x00"+creator)), nil
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
