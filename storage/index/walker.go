package index

import (
	"bytes"
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"
)

// walker goes through index keys of one kind, each being a prefix, a value and an ID: by value, ascending or descending,
// and by ID, always ascending, among those of one value.
type walker struct {
	iter       *pebble.Iterator
	prefix     []byte
	descending bool
	stands     bool   // iter is on a key
	group      []byte // descending: the value whose IDs are walked forward; nil: iter is on the last key of one
	key        []byte // scratch

	value []byte // of the key that next came to, as encoded; valid until the next call
	id    uuid.UUID
}

// newWalker begins at the first key below prefix, or where from tells.
func newWalker(ctx context.Context, reader pebble.Reader, prefix []byte, descending bool, from walkFrom) (*walker, error) {
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
	w := &walker{iter: iter, prefix: prefix, descending: descending}
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

// walkFrom says where a walker begins: at a value, or what a value begins with; nil: at the first. With after, which takes
// a whole value, behind that ID among those of the value.
type walkFrom struct {
	value []byte
	after *uuid.UUID
}

func (w *walker) close() error { return w.iter.Close() }

// valueHere is the value of the key that iter is on; nil for a key that is too short to be one.
func (w *walker) valueHere() []byte {
	key := w.iter.Key()
	if len(key) < len(w.prefix)+len(w.id) {
		return nil
	}
	return key[len(w.prefix) : len(key)-len(w.id)]
}

// next goes to the next key, and tells whether there is one. At the end, err tells why it is one.
func (w *walker) next() bool {
	if !w.stands {
		return false
	}
	if w.descending && w.group == nil && !w.enterGroup() {
		return true // alone with its value: iter is on the one before it
	}
	w.take()
	w.stands = w.iter.Next()
	if w.descending && (!w.stands || !bytes.Equal(w.valueHere(), w.group)) {
		w.leaveGroup()
	}
	return true
}

// take makes the key that iter is on the one that next came to.
func (w *walker) take() {
	w.value = append(w.value[:0], w.valueHere()...)
	w.id, _ = lastID(w.iter.Key())
}

// enterGroup goes from the last key of a value to the first. If there is but one, it takes that and returns false.
func (w *walker) enterGroup() bool {
	w.take()
	if w.stands = w.iter.Prev(); !w.stands || !bytes.Equal(w.valueHere(), w.value) {
		return false
	}
	w.group = append([]byte{}, w.value...)
	w.key = append(append(w.key[:0], w.prefix...), w.group...)
	w.stands = w.iter.SeekGE(w.key)
	return true
}

// leaveGroup goes to the last key of the value before.
func (w *walker) leaveGroup() {
	w.key = append(append(w.key[:0], w.prefix...), w.group...)
	w.stands = w.iter.SeekLT(w.key)
	w.group = nil
}

// seek goes forward to the first key with that value and an ID not below, for a walker of one value that ascends.
func (w *walker) seek(id uuid.UUID) bool {
	w.key = append(append(w.key[:0], w.prefix...), id[:]...)
	w.stands = w.iter.SeekGE(w.key)
	return w.next()
}

// err is why the walker came to its end, nil if all keys were seen.
func (w *walker) err() error { return w.iter.Error() }

// merger goes through several walkers as if they were one.
type merger struct {
	walkers    []*walker
	descending bool
	begun      bool
	at         *walker // whose key is the present one
}

// next is walker's.
func (m *merger) next() bool {
	if !m.begun {
		m.begun = true
		kept := m.walkers[:0:0]
		for _, w := range m.walkers {
			if w.next() {
				kept = append(kept, w)
			}
		}
		m.walkers, m.at = kept, nil
	} else if !m.at.next() {
		for i, w := range m.walkers {
			if w == m.at {
				m.walkers = append(m.walkers[:i:i], m.walkers[i+1:]...)
				break
			}
		}
	}
	m.at = nil
	for _, w := range m.walkers {
		if m.at == nil || m.before(w, m.at) {
			m.at = w
		}
	}
	return m.at != nil
}

func (m *merger) before(a, b *walker) bool {
	if c := bytes.Compare(a.value, b.value); c != 0 {
		return c < 0 != m.descending
	}
	return bytes.Compare(a.id[:], b.id[:]) < 0
}

// openMerger opens a walker below each prefix. stop closes them, and returns what kept them from their ends.
func openMerger(ctx context.Context, reader pebble.Reader, prefixes [][]byte, descending bool, from walkFrom) (m *merger, stop func() error, err error) {
	m = &merger{descending: descending}
	stop = func() error { return nil }
	for _, prefix := range prefixes {
		w, err := newWalker(ctx, reader, prefix, descending, from)
		if err != nil {
			return nil, nil, errors.Join(err, stop())
		}
		m.walkers = append(m.walkers, w)
		others := stop
		stop = func() error { return errors.Join(others(), w.err(), w.close()) }
	}
	return m, stop, nil
}
