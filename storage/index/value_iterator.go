package index

import (
	"bytes"
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
)

// valueIterator goes through index keys of one kind, each being a prefix, a value and an ID: by value, ascending or
// descending, and by ID, always ascending, among those of one value.
type valueIterator struct {
	iter       *pebble.Iterator
	prefix     []byte
	descending bool
	stands     bool   // iter is on a key
	group      []byte // descending: the value whose IDs are walked forward; nil: iter is on the last key of one
	key        []byte // scratch

	value []byte // of the key that next came to, as encoded; valid until the next call
	id    uuid.UUID
}

// newValueIterator begins at the first key below prefix, or at from.
func newValueIterator(
	ctx context.Context, reader pebble.Reader, prefix []byte, descending bool, from valueStart,
) (*valueIterator, error) {
	bounds := &pebble.IterOptions{LowerBound: prefix, UpperBound: prefixEnd(prefix)}
	if from.value != nil {
		value := append(bytes.Clone(prefix), from.value...)
		if descending {
			bounds.UpperBound = prefixEnd(value)
		} else {
			bounds.LowerBound = value
		}
	}
	iter, err := reader.NewIterWithContext(ctx, bounds)
	if err != nil {
		return nil, err
	}
	w := &valueIterator{iter: iter, prefix: prefix, descending: descending}
	switch {
	case from.after == nil && descending:
		w.stands = iter.Last()
	case from.after == nil:
		w.stands = iter.First()
	default:
		w.key = append(append(append(append(w.key, prefix...), from.value...), from.after[:]...), 0)
		w.stands = iter.SeekGE(w.key)
		if !descending {
			break
		}
		w.group = bytes.Clone(from.value)
		if !w.stands || !bytes.Equal(w.valueHere(), w.group) {
			w.leaveGroup()
		}
	}
	return w, nil
}

// valueStart is where a valueIterator begins: at a value, or at the beginning of one; nil: at the first. With after,
// which takes a whole value, it begins behind that ID among those of the value.
type valueStart struct {
	value []byte
	after *uuid.UUID
}

func (v *valueIterator) close() error { return v.iter.Close() }

// valueHere is the value of the key that iter is on; nil for a key that is too short to be one.
func (v *valueIterator) valueHere() []byte {
	key := v.iter.Key()
	if len(key) < len(v.prefix)+len(v.id) {
		return nil
	}
	return key[len(v.prefix) : len(key)-len(v.id)]
}

// next goes to the next key, and reports whether there is one. At the end, err says why.
func (v *valueIterator) next() bool {
	if !v.stands {
		return false
	}
	if v.descending && v.group == nil && !v.enterGroup() {
		return true // alone with its value: iter is on the one before it
	}
	v.take()
	v.stands = v.iter.Next()
	if v.descending && (!v.stands || !bytes.Equal(v.valueHere(), v.group)) {
		v.leaveGroup()
	}
	return true
}

// take makes the key that iter is on the one that next came to.
func (v *valueIterator) take() {
	v.value = append(v.value[:0], v.valueHere()...)
	v.id, _ = lastID(v.iter.Key())
}

// enterGroup goes from the last key of a value to the first. If there is but one, it takes that and returns false.
func (v *valueIterator) enterGroup() bool {
	v.take()
	if v.stands = v.iter.Prev(); !v.stands || !bytes.Equal(v.valueHere(), v.value) {
		return false
	}
	v.group = append([]byte{}, v.value...)
	v.key = append(append(v.key[:0], v.prefix...), v.group...)
	v.stands = v.iter.SeekGE(v.key)
	return true
}

// leaveGroup goes to the last key of the value before.
func (v *valueIterator) leaveGroup() {
	v.key = append(append(v.key[:0], v.prefix...), v.group...)
	v.stands = v.iter.SeekLT(v.key)
	v.group = nil
}

// seek goes forward to the first key with that value and an ID not below. The iterator has one value and ascends.
func (v *valueIterator) seek(id uuid.UUID) bool {
	v.key = append(append(v.key[:0], v.prefix...), id[:]...)
	v.stands = v.iter.SeekGE(v.key)
	return v.next()
}

// err is why the iterator came to its end, nil if it saw all keys.
func (v *valueIterator) err() error { return v.iter.Error() }

// mergingIterator goes through several iterators as if they were one.
type mergingIterator struct {
	iterators  []*valueIterator
	descending bool
	begun      bool
	at         *valueIterator // whose key is the present one
}

// next goes to the next key, and reports whether there is one.
func (m *mergingIterator) next() bool {
	if !m.begun {
		m.begun = true
		kept := m.iterators[:0:0]
		for _, w := range m.iterators {
			if w.next() {
				kept = append(kept, w)
			}
		}
		m.iterators, m.at = kept, nil
	} else if !m.at.next() {
		for i, w := range m.iterators {
			if w == m.at {
				m.iterators = append(m.iterators[:i:i], m.iterators[i+1:]...)
				break
			}
		}
	}
	m.at = nil
	for _, w := range m.iterators {
		if m.at == nil || m.before(w, m.at) {
			m.at = w
		}
	}
	return m.at != nil
}

func (m *mergingIterator) before(a, b *valueIterator) bool {
	if c := bytes.Compare(a.value, b.value); c != 0 {
		return c < 0 != m.descending
	}
	return model.CompareIDs(a.id, b.id) < 0
}

// openMergingIterator opens a valueIterator below each prefix. stop closes them, and returns what kept them from their
// ends.
func openMergingIterator(
	ctx context.Context, reader pebble.Reader, prefixes [][]byte, descending bool, from valueStart,
) (m *mergingIterator, stop func() error, err error) {
	m = &mergingIterator{descending: descending}
	stop = func() error { return nil }
	for _, prefix := range prefixes {
		w, err := newValueIterator(ctx, reader, prefix, descending, from)
		if err != nil {
			return nil, nil, errors.Join(err, stop())
		}
		m.iterators = append(m.iterators, w)
		others := stop
		stop = func() error { return errors.Join(others(), w.err(), w.close()) }
	}
	return m, stop, nil
}
