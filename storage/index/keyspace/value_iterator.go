package keyspace

import (
	"bytes"
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
)

// ValueIterator goes through index keys of one kind, each being a prefix, a value and an ID: by value, ascending or
// descending, and by ID, always ascending, among those of one value.
type ValueIterator struct {
	iter       *pebble.Iterator
	prefix     []byte
	descending bool
	stands     bool   // iter is on a key
	group      []byte // descending: the value whose IDs are walked forward; nil: iter is on the last key of one
	key        []byte // scratch

	Value []byte // of the key that next came to, as encoded; valid until the next call
	ID    uuid.UUID
}

// NewValueIterator begins at the first key below prefix, or at from.
func NewValueIterator(
	ctx context.Context, reader pebble.Reader, prefix []byte, descending bool, from ValueStart,
) (*ValueIterator, error) {
	bounds := &pebble.IterOptions{LowerBound: prefix, UpperBound: PrefixEnd(prefix)}
	if from.Value != nil {
		value := append(bytes.Clone(prefix), from.Value...)
		if descending {
			bounds.UpperBound = PrefixEnd(value)
		} else {
			bounds.LowerBound = value
		}
	}
	iter, err := reader.NewIterWithContext(ctx, bounds)
	if err != nil {
		return nil, err
	}
	w := &ValueIterator{iter: iter, prefix: prefix, descending: descending}
	switch {
	case from.After == nil && descending:
		w.stands = iter.Last()
	case from.After == nil:
		w.stands = iter.First()
	default:
		w.key = append(append(append(append(w.key, prefix...), from.Value...), from.After[:]...), 0)
		w.stands = iter.SeekGE(w.key)
		if !descending {
			break
		}
		w.group = bytes.Clone(from.Value)
		if !w.stands || !bytes.Equal(w.valueHere(), w.group) {
			w.leaveGroup()
		}
	}
	return w, nil
}

// ValueStart is where a ValueIterator begins: at a value, or at the beginning of one; nil: at the first. With after,
// which takes a whole value, it begins behind that ID among those of the value.
type ValueStart struct {
	Value []byte
	After *uuid.UUID
}

func (v *ValueIterator) Close() error { return v.iter.Close() }

// valueHere is the value of the key that iter is on; nil for a key that is too short to be one.
func (v *ValueIterator) valueHere() []byte {
	key := v.iter.Key()
	if len(key) < len(v.prefix)+len(v.ID) {
		return nil
	}
	return key[len(v.prefix) : len(key)-len(v.ID)]
}

// Next goes to the next key, and reports whether there is one. At the end, err says why.
func (v *ValueIterator) Next() bool {
	if !v.stands {
		return false
	}
	if v.descending && v.group == nil && !v.enterGroup() {
		return true // alone with its value: iter is on the one before it
	}
	v.load()
	v.stands = v.iter.Next()
	if v.descending && (!v.stands || !bytes.Equal(v.valueHere(), v.group)) {
		v.leaveGroup()
	}
	return true
}

// load makes the key that iter is on the one that next came to.
func (v *ValueIterator) load() {
	v.Value = append(v.Value[:0], v.valueHere()...)
	v.ID, _ = LastID(v.iter.Key())
}

// enterGroup goes from the last key of a value to the first. If there is but one, it takes that and returns false.
func (v *ValueIterator) enterGroup() bool {
	v.load()
	if v.stands = v.iter.Prev(); !v.stands || !bytes.Equal(v.valueHere(), v.Value) {
		return false
	}
	v.group = append([]byte{}, v.Value...)
	v.key = append(append(v.key[:0], v.prefix...), v.group...)
	v.stands = v.iter.SeekGE(v.key)
	return true
}

// leaveGroup goes to the last key of the value before.
func (v *ValueIterator) leaveGroup() {
	v.key = append(append(v.key[:0], v.prefix...), v.group...)
	v.stands = v.iter.SeekLT(v.key)
	v.group = nil
}

// Seek goes forward to the first key with that value and an ID not below. The iterator has one value and ascends.
func (v *ValueIterator) Seek(id uuid.UUID) bool {
	v.key = append(append(v.key[:0], v.prefix...), id[:]...)
	v.stands = v.iter.SeekGE(v.key)
	return v.Next()
}

// Err is why the iterator came to its end, nil if it saw all keys.
func (v *ValueIterator) Err() error { return v.iter.Error() }

// MergingIterator goes through several iterators as if they were one.
type MergingIterator struct {
	iterators  []*ValueIterator
	descending bool
	begun      bool
	At         *ValueIterator // whose key is the present one
}

// Next goes to the next key, and reports whether there is one.
func (m *MergingIterator) Next() bool {
	if !m.begun {
		m.begun = true
		kept := m.iterators[:0:0]
		for _, w := range m.iterators {
			if w.Next() {
				kept = append(kept, w)
			}
		}
		m.iterators, m.At = kept, nil
	} else if !m.At.Next() {
		for i, w := range m.iterators {
			if w == m.At {
				m.iterators = append(m.iterators[:i:i], m.iterators[i+1:]...)
				break
			}
		}
	}
	m.At = nil
	for _, w := range m.iterators {
		if m.At == nil || m.before(w, m.At) {
			m.At = w
		}
	}
	return m.At != nil
}

func (m *MergingIterator) before(a, b *ValueIterator) bool {
	if c := bytes.Compare(a.Value, b.Value); c != 0 {
		return c < 0 != m.descending
	}
	return model.CompareIDs(a.ID, b.ID) < 0
}

// Merge opens a ValueIterator below each prefix. stop closes them, and returns what kept them from their ends.
func Merge(
	ctx context.Context, reader pebble.Reader, prefixes [][]byte, descending bool, from ValueStart,
) (m *MergingIterator, stop func() error, err error) {
	m = &MergingIterator{descending: descending}
	stop = func() error { return nil }
	for _, prefix := range prefixes {
		w, err := NewValueIterator(ctx, reader, prefix, descending, from)
		if err != nil {
			return nil, nil, errors.Join(err, stop())
		}
		m.iterators = append(m.iterators, w)
		others := stop
		stop = func() error { return errors.Join(others(), w.Err(), w.Close()) }
	}
	return m, stop, nil
}

// EachKey calls f for each key that iter has, until f returns false or an error.
func EachKey(ctx context.Context, iter *pebble.Iterator, f func() (bool, error)) error {
	const rowsPerCheck = 16 // a filter of many terms takes milliseconds for one
	row := 0
	for valid := iter.First(); valid; valid = iter.Next() {
		if row++; row%rowsPerCheck == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if more, err := f(); err != nil || !more {
			return err
		}
	}
	return iter.Error()
}
