package records

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"unsafe"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

const (
	resourceVersion = 2

	flagUserID       = 1 << 0
	flagProjectID    = 1 << 1
	flagEndedAt      = 1 << 2
	flagRevisionEnd  = 1 << 3
	flagOwnID        = 1 << 4 // the client wrote the ID as it is shown
	flagInline       = 1 << 5 // the metrics are listed in the value
	resourceFlagsAll = 1<<6 - 1
)

// AppendResource appends the value of r's key, or of a past state's; docs/format/index.md draws it. t is r's type.
func AppendResource(dst []byte, r *model.Resource, t *model.ResourceType) []byte {
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

// rawResource is a resource's value taken apart; its texts are pieces of the value.
type rawResource struct {
	flags                                       byte
	typeName, original, creator, user, project  []byte
	startedAt, endedAt, revisionStart, revEnded carbonara.Timestamp
	count                                       uint64      // of attributes
	attributes                                  fieldReader // era, kind and value of each
}

// parseResource takes a value apart, down to the attributes, which it leaves as they are.
func parseResource(src []byte) (r rawResource, ok bool) {
	in := fieldReader{rest: src}
	head := in.bytes(2)
	if in.short || head[0] != resourceVersion || head[1]&^byte(resourceFlagsAll) != 0 {
		return r, false
	}
	r.flags = head[1]
	r.typeName = in.text()
	if r.flags&flagOwnID == 0 {
		r.original = in.text()
	}
	r.creator = in.text()
	if r.flags&flagUserID != 0 {
		r.user = in.text()
	}
	if r.flags&flagProjectID != 0 {
		r.project = in.text()
	}
	r.startedAt = carbonara.Timestamp(in.uint64())
	if r.flags&flagEndedAt != 0 {
		r.endedAt = carbonara.Timestamp(in.uint64())
	}
	r.revisionStart = carbonara.Timestamp(in.uint64())
	if r.flags&flagRevisionEnd != 0 {
		r.revEnded = carbonara.Timestamp(in.uint64())
	}
	r.count = in.uvarint()
	r.attributes = in
	return r, !in.short
}

// EndOf returns when the resource of a value ended, nil if it did not or the value does not decode.
func EndOf(value []byte) *carbonara.Timestamp {
	r, ok := parseResource(value)
	if !ok || r.flags&flagEndedAt == 0 {
		return nil
	}
	return &r.endedAt
}

// Decoder decodes resources one after the other.
type Decoder struct {
	Types  map[string]*model.ResourceType
	Before map[string]*model.ResourceType // perhaps with types that are gone
	stored []model.EraValue
	shown  View
}

// Another returns a decoder of the same types, for another goroutine.
func (d *Decoder) Another() *Decoder {
	return &Decoder{Types: d.Types, Before: d.Before}
}

// View is what view fills again and again.
type View struct {
	model.Resource
	original      [36]byte
	user, project string
	ended, revEnd carbonara.Timestamp
	values        model.Values
	Inline        InlineMetrics // a piece of the value, perhaps not valid
}

// Decode returns the resource of a value. It keeps nothing of src.
func (d *Decoder) Decode(id uuid.UUID, src []byte) (*model.Resource, error) {
	r := new(View)
	// The texts are pieces of one copy of the value: one allocation, and they are most of it.
	if err := d.fill(r, id, bytes.Clone(src)); err != nil {
		return nil, err
	}
	if !r.Inline.Valid() {
		return nil, ErrInline(id)
	}
	return &r.Resource, nil
}

// Keep is decode for a src that View has read. It skips the list of metrics, which is most of many values.
func (d *Decoder) Keep(id uuid.UUID, src []byte) (*View, error) {
	r := new(View)
	return r, d.fill(r, id, bytes.Clone(src[:len(src)-len(d.shown.Inline.Fields)]))
}

// View is decode for a look at a resource: the view is valid until the next call, and as long as src stays. The list of
// metrics is not looked at.
func (d *Decoder) View(id uuid.UUID, src []byte) (*View, error) {
	if err := d.fill(&d.shown, id, src); err != nil {
		return nil, err
	}
	return &d.shown, nil
}

// fill makes r the resource of a value; its texts are pieces of src.
func (d *Decoder) fill(r *View, id uuid.UUID, src []byte) error {
	raw, ok := parseResource(src)
	if !ok {
		return fmt.Errorf("%w: resource %s: unknown version, flags or length", ErrCorrupt, id)
	}
	t := d.Types[string(raw.typeName)]
	if t == nil {
		t = d.Before[string(raw.typeName)]
	}
	if t == nil {
		return fmt.Errorf("%w: resource %s: its type %q does not exist", ErrCorrupt, id, raw.typeName)
	}
	r.Resource = model.Resource{ID: id, OriginalID: Text(raw.original), Type: t.Name, Creator: Text(raw.creator),
		StartedAt: raw.startedAt, RevisionStart: raw.revisionStart}
	if raw.flags&flagOwnID != 0 {
		r.OriginalID = Text(appendID(r.original[:0], id))
	}
	if raw.flags&flagUserID != 0 {
		r.user = Text(raw.user)
		r.UserID = &r.user
	}
	if raw.flags&flagProjectID != 0 {
		r.project = Text(raw.project)
		r.ProjectID = &r.project
	}
	if raw.flags&flagEndedAt != 0 {
		r.ended = raw.endedAt
		r.EndedAt = &r.ended
	}
	if raw.flags&flagRevisionEnd != 0 {
		r.revEnd = raw.revEnded
		r.RevisionEnd = &r.revEnd
	}
	d.stored = d.stored[:0]
	in := raw.attributes
	for n := raw.count; n > 0 && !in.short; n-- {
		era := in.uvarint()
		d.stored = append(d.stored, model.EraValue{Era: uint32(era), Value: in.value()})
	}
	r.Inline = InlineMetrics{}
	if raw.flags&flagInline != 0 {
		r.Inline.Fields, in.rest = in.rest, nil
	}
	if in.short || len(in.rest) > 0 {
		return fmt.Errorf("%w: resource %s: its length is wrong", ErrCorrupt, id)
	}
	if len(t.Attributes) == 0 {
		return nil
	}
	r.values = r.values[:0]
	if cap(r.values) < len(t.Attributes) {
		r.values = make(model.Values, 0, len(t.Attributes)) // those that its type has now
	}
	for _, a := range t.Attributes {
		value := a.Resolve(d.stored)
		if value != nil && !a.Kind.Holds(value) {
			return fmt.Errorf("%w: resource %s: attribute %s is no %s", ErrCorrupt, id, a.Name, a.Kind)
		}
		r.values = append(r.values, model.Value{Name: a.Name, Value: value})
	}
	r.Attributes = r.values
	return nil
}

// appendID appends an ID as it is shown.
func appendID(dst []byte, id uuid.UUID) []byte {
	for i, part := range [][]byte{id[:4], id[4:6], id[6:8], id[8:10], id[10:]} {
		if i > 0 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, part)
	}
	return dst
}

// Text is a text of the bytes, which must not change while it is used.
func Text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

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
	if len(in.rest) > 0 && in.rest[0] < 0x80 {
		n := in.rest[0]
		in.rest = in.rest[1:]
		return uint64(n)
	}
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

// skipValue passes over what an attribute stores.
func (in *fieldReader) skipValue() {
	switch kind := in.bytes(1)[0]; model.AttributeKind(kind) {
	case 0:
	case model.KindString:
		in.text()
	case model.KindUUID:
		in.bytes(16)
	case model.KindNumber, model.KindDatetime:
		in.bytes(8)
	case model.KindBool:
		in.bytes(1)
	default:
		in.short = true
	}
}

// value is what an attribute stores; a text is a piece of the bytes.
func (in *fieldReader) value() any {
	switch kind := in.bytes(1)[0]; model.AttributeKind(kind) {
	case 0:
		return nil
	case model.KindString:
		return Text(in.text())
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

// jsonVersion comes before the JSON of a value.
const jsonVersion = 1

func SetJSON(b *pebble.Batch, key []byte, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return b.Set(key, append([]byte{jsonVersion}, text...), nil)
}

// DecodeJSON returns a storage.ErrCorrupt if value is not of SetJSON.
func DecodeJSON(value []byte, v any) error {
	if len(value) == 0 || value[0] != jsonVersion {
		return fmt.Errorf("%w: unknown version", ErrCorrupt)
	}
	if err := json.Unmarshal(value[1:], v); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return nil
}
