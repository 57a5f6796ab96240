package index

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// eachResourceKey calls f for each index key of a live resource, from its stored value alone: what is there to be
// deleted does not depend on what its type has become meanwhile. The key is valid during the call.
func eachResourceKey(id uuid.UUID, value []byte, f func(key []byte) error) error {
	r, ok := parseResource(value)
	if !ok {
		return fmt.Errorf("%w: resource %s", errCorrupt, id)
	}
	key := make([]byte, 0, 128)
	emit := func(dst []byte) error {
		key = append(dst, id[:]...)
		return f(key)
	}
	key = append(append(append(key, prefixTypeResource), r.typeName...), 0)
	if err := emit(appendKeyTime(appendKeyTime(key, r.revisionStart), r.startedAt)); err != nil {
		return err
	}
	texts := [...]struct {
		field byte
		text  []byte
		given bool
	}{
		{fieldCreator, r.creator, true},
		{fieldUser, r.user, r.flags&flagUserID != 0},
		{fieldProject, r.project, r.flags&flagProjectID != 0},
		{fieldOriginal, r.original, r.flags&flagOwnID == 0},
	}
	for _, t := range texts {
		if !t.given {
			continue
		}
		if err := emit(appendKeyText(append(key[:0], prefixField, t.field), t.text)); err != nil {
			return err
		}
	}
	if err := emit(appendKeyTime(append(key[:0], prefixField, fieldStarted), r.startedAt)); err != nil {
		return err
	}
	if r.flags&flagEndedAt != 0 {
		if err := emit(appendKeyTime(append(key[:0], prefixField, fieldEnded), r.endedAt)); err != nil {
			return err
		}
	}
	in := r.attributes
	for n := r.count; n > 0; n-- {
		era := uint32(in.uvarint())
		key = append(append(append(key[:0], prefixAttribute), r.typeName...), 0)
		key = binary.BigEndian.AppendUint32(key, era)
		// As appendKeyValue does, without making a value of it.
		switch kind := model.AttributeKind(in.bytes(1)[0]); kind {
		case 0:
			continue
		case model.KindBool:
			in.bytes(1)
			continue
		case model.KindString:
			key = appendKeyText(key, in.text())
		case model.KindUUID:
			key = append(key, in.bytes(16)...)
		case model.KindNumber:
			key = appendKeyNumber(key, math.Float64frombits(in.uint64()))
		case model.KindDatetime:
			key = appendKeyTime(key, carbonara.Timestamp(in.uint64()))
		default:
			return fmt.Errorf("%w: resource %s: unknown kind of attribute", errCorrupt, id)
		}
		if in.short {
			return fmt.Errorf("%w: resource %s: truncated", errCorrupt, id)
		}
		if err := emit(key); err != nil {
			return err
		}
	}
	return nil
}

// putResource writes a resource that is new, and adds its keys to those that are still to be written.
func (c *change) putResource(id uuid.UUID, value []byte, keys *sortedKeys) error {
	c.touched = append(c.touched, changed{resource: true, id: id})
	if err := c.Set(idKey(prefixResource, id), value, nil); err != nil {
		return err
	}
	return eachResourceKey(id, value, func(key []byte) error {
		keys.add(key)
		return nil
	})
}

// replaceResource writes another value of a resource, and those of its keys that differ.
func (c *change) replaceResource(id uuid.UUID, old, value []byte) error {
	c.touched = append(c.touched, changed{resource: true, id: id})
	was, err := resourceKeys(id, old)
	if err != nil {
		return err
	}
	is, err := resourceKeys(id, value)
	if err != nil {
		return err
	}
	for _, key := range was {
		if _, kept := slices.BinarySearch(is, key); !kept {
			if err := c.Delete([]byte(key), nil); err != nil {
				return err
			}
		}
	}
	for _, key := range is {
		if _, kept := slices.BinarySearch(was, key); !kept {
			if err := c.Set([]byte(key), nil, nil); err != nil {
				return err
			}
		}
	}
	return c.Set(idKey(prefixResource, id), value, nil)
}

// dropResource deletes a resource and its keys.
func (c *change) dropResource(id uuid.UUID, value []byte) error {
	c.touched = append(c.touched, changed{resource: true, id: id})
	if err := c.Delete(idKey(prefixResource, id), nil); err != nil {
		return err
	}
	return eachResourceKey(id, value, func(key []byte) error { return c.Delete(key, nil) })
}

// resourceKeys returns the index keys of a live resource, ascending.
func resourceKeys(id uuid.UUID, value []byte) (keys []string, err error) {
	err = eachResourceKey(id, value, func(key []byte) error {
		keys = append(keys, string(key))
		return nil
	})
	slices.Sort(keys)
	return keys, err
}
