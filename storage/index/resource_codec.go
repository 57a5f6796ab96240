package index

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/google/uuid"

	"gnocco/carbonara"
	"gnocco/model"
)

const (
	resourceJSONVersion = 1 // of stores up to format version 1
	resourceVersion     = 2

	flagUserID       = 1 << 0
	flagProjectID    = 1 << 1
	flagEndedAt      = 1 << 2
	flagRevisionEnd  = 1 << 3
	flagOwnID        = 1 << 4 // the client wrote the ID as it is shown
	resourceFlagsAll = 1<<5 - 1
)

// appendResource appends the value of r's key, or of a past state's; docs/format/index.md draws it. t is r's type.
func appendResource(dst []byte, r *model.Resource, t *model.ResourceType) []byte {
	ownID := r.OriginalID == r.ID.String()
	var flags byte
	set := func(flag byte, given bool) {
		if given {
			flags |= flag
		}
	}
	set(flagUserID, r.UserID != nil)
	set(flagProjectID, r.ProjectID != nil)
	set(flagEndedAt, r.EndedAt != nil)
	set(flagRevisionEnd, r.RevisionEnd != nil)
	set(flagOwnID, ownID)
	dst = append(dst, resourceVersion, flags)
	dst = appendText(dst, r.Type)
	if !ownID {
		dst = appendText(dst, r.OriginalID)
	}
	dst = appendText(dst, r.Creator)
	for _, text := range []*string{r.UserID, r.ProjectID} {
		if text != nil {
			dst = appendText(dst, *text)
		}
	}
	for _, t := range []*carbonara.Timestamp{&r.StartedAt, r.EndedAt, &r.RevisionStart, r.RevisionEnd} {
		if t != nil {
			dst = binary.BigEndian.AppendUint64(dst, uint64(*t))
		}
	}
	dst = binary.AppendUvarint(dst, uint64(len(t.Attributes)))
	for _, a := range t.Attributes {
		dst = binary.AppendUvarint(dst, uint64(a.CurrentEra()))
		value, _ := r.Attributes.Get(a.Name)
		dst = appendValue(dst, value)
	}
	return dst
}

func appendText(dst []byte, text string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

// appendValue appends the kind, 0 for null, and the value.
func appendValue(dst []byte, value any) []byte {
	switch v := value.(type) {
	case nil:
		return append(dst, 0)
	case string:
		return appendText(append(dst, byte(model.KindString)), v)
	case uuid.UUID:
		return append(append(dst, byte(model.KindUUID)), v[:]...)
	case float64:
		return binary.BigEndian.AppendUint64(append(dst, byte(model.KindNumber)), math.Float64bits(v))
	case bool:
		dst = append(dst, byte(model.KindBool), 0)
		if v {
			dst[len(dst)-1] = 1
		}
		return dst
	case carbonara.Timestamp:
		return binary.BigEndian.AppendUint64(append(dst, byte(model.KindDatetime)), uint64(v))
	}
	panic(fmt.Sprintf("index: an attribute of type %T", value)) // ResourceType.Check has let it pass
}

// resourceDecoder decodes resources one after the other.
type resourceDecoder struct {
	types  map[string]*model.ResourceType
	before map[string]*model.ResourceType // perhaps with types that are gone
	stored []model.EraValue
}

// decode returns the resource of a value. It keeps nothing of src.
func (d *resourceDecoder) decode(id uuid.UUID, src []byte) (*model.Resource, error) {
	if len(src) > 0 && src[0] == resourceJSONVersion {
		return decodeResourceJSON(id, src)
	}
	in := fieldReader{rest: src}
	head := in.bytes(2)
	if in.short || head[0] != resourceVersion || head[1]&^byte(resourceFlagsAll) != 0 {
		return nil, fmt.Errorf("%w: resource %s: unknown version or flags", ErrCorrupt, id)
	}
	flags := head[1]
	r := &model.Resource{ID: id}
	typeName := in.text()
	t := d.types[string(typeName)]
	if t == nil {
		t = d.before[string(typeName)]
	}
	if t == nil {
		return nil, fmt.Errorf("%w: resource %s: its type %q does not exist", ErrCorrupt, id, typeName)
	}
	r.Type = t.Name
	if flags&flagOwnID != 0 {
		r.OriginalID = id.String()
	} else {
		r.OriginalID = string(in.text())
	}
	r.Creator = string(in.text())
	r.UserID = in.optionalText(flags & flagUserID)
	r.ProjectID = in.optionalText(flags & flagProjectID)
	r.StartedAt = carbonara.Timestamp(in.uint64())
	r.EndedAt = in.optionalTime(flags & flagEndedAt)
	r.RevisionStart = carbonara.Timestamp(in.uint64())
	r.RevisionEnd = in.optionalTime(flags & flagRevisionEnd)
	d.stored = d.stored[:0]
	for n := in.uvarint(); n > 0 && !in.short; n-- {
		era := in.uvarint()
		d.stored = append(d.stored, model.EraValue{Era: uint32(era), Value: in.value()})
	}
	if in.short || len(in.rest) > 0 {
		return nil, fmt.Errorf("%w: resource %s: its length is wrong", ErrCorrupt, id)
	}
	if len(t.Attributes) == 0 {
		return r, nil
	}
	r.Attributes = make(model.Values, len(t.Attributes)) // those that its type has now
	for i, a := range t.Attributes {
		value := a.Resolve(d.stored)
		if value != nil && !a.Kind.Holds(value) {
			return nil, fmt.Errorf("%w: resource %s: attribute %s is no %s", ErrCorrupt, id, a.Name, a.Kind)
		}
		r.Attributes[i] = model.Value{Name: a.Name, Value: value}
	}
	return r, nil
}

// fieldReader takes fields off the front of bytes. Once they do not suffice it is short, and gives zeroes.
type fieldReader struct {
	rest  []byte
	short bool
}

func (in *fieldReader) bytes(n int) []byte {
	if n > len(in.rest) {
		in.short, in.rest = true, nil
		return make([]byte, min(n, 16))
	}
	field := in.rest[:n]
	in.rest = in.rest[n:]
	return field
}

func (in *fieldReader) uint64() uint64 { return binary.BigEndian.Uint64(in.bytes(8)) }

func (in *fieldReader) uvarint() uint64 {
	n, width := binary.Uvarint(in.rest)
	if width <= 0 {
		in.short, in.rest = true, nil
		return 0
	}
	in.rest = in.rest[width:]
	return n
}

func (in *fieldReader) text() []byte {
	n := in.uvarint()
	if n > uint64(len(in.rest)) {
		in.short, in.rest = true, nil
		return nil
	}
	return in.bytes(int(n))
}

func (in *fieldReader) optionalText(given byte) *string {
	if given == 0 {
		return nil
	}
	text := string(in.text())
	return &text
}

func (in *fieldReader) optionalTime(given byte) *carbonara.Timestamp {
	if given == 0 {
		return nil
	}
	t := carbonara.Timestamp(in.uint64())
	return &t
}

func (in *fieldReader) value() any {
	switch kind := in.bytes(1)[0]; model.AttributeKind(kind) {
	case 0:
		return nil
	case model.KindString:
		return string(in.text())
	case model.KindUUID:
		return uuid.UUID(in.bytes(16))
	case model.KindNumber:
		return math.Float64frombits(in.uint64())
	case model.KindBool:
		return in.bytes(1)[0] != 0
	case model.KindDatetime:
		return carbonara.Timestamp(in.uint64())
	}
	in.short = true
	return nil
}

// storedResource is a resource's value in stores of format version 1; times are nanoseconds since 1970. All are generic.
type storedResource struct {
	OriginalID    string               `json:"original_id"`
	Type          string               `json:"type"`
	Creator       string               `json:"creator,omitempty"`
	UserID        *string              `json:"user_id,omitempty"`
	ProjectID     *string              `json:"project_id,omitempty"`
	StartedAt     carbonara.Timestamp  `json:"started_at"`
	EndedAt       *carbonara.Timestamp `json:"ended_at,omitempty"`
	RevisionStart carbonara.Timestamp  `json:"revision_start"`
}

func decodeResourceJSON(id uuid.UUID, value []byte) (*model.Resource, error) {
	var stored storedResource
	err := json.Unmarshal(value[1:], &stored)
	if err == nil && stored.Type != model.GenericType {
		err = errors.New("it is not generic")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: resource %s: %w", ErrCorrupt, id, err)
	}
	return &model.Resource{
		ID: id, OriginalID: stored.OriginalID, Type: model.GenericType, Creator: stored.Creator, UserID: stored.UserID,
		ProjectID: stored.ProjectID, StartedAt: stored.StartedAt, EndedAt: stored.EndedAt, RevisionStart: stored.RevisionStart,
	}, nil
}
