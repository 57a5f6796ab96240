package engine

import (
	"bytes"
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// Hole is a range of keys that a store should hold and that cannot be read: behind After and before Before, both
// readable; nil for an end of the store.
type Hole struct {
	After, Before []byte
	Err           error
}

// Walk calls visit with every key and value of db that can be read, ascending, and returns the ranges that cannot. The
// iterator of Pebble ends at the first damaged block; Walk goes on behind it, at the first readable key among those
// that resume names for a position (ascending; it may be nil) and the first keys of tables. So a hole is as wide as the
// caller's knowledge of his keys is coarse. Keys and values are valid during the call. An error of visit ends the walk.
func Walk(db *pebble.DB, resume func(after []byte) [][]byte, visit func(key, value []byte) error) ([]Hole, error) {
	firsts, err := tableFirsts(db)
	if err != nil {
		return nil, err
	}
	var holes []Hole
	var from, last []byte
	for {
		failed, err := walkFrom(db, from, &last, visit)
		if err != nil || failed == nil {
			return holes, err
		}
		hole := Hole{After: bytes.Clone(last), Err: failed}
		candidates := slices.Clone(firsts)
		if resume != nil {
			candidates = append(candidates, resume(last)...)
		}
		slices.SortFunc(candidates, bytes.Compare)
		at, _ := slices.BinarySearchFunc(candidates, append(bytes.Clone(last), 0), bytes.Compare)
		if hole.Before, err = firstReadable(db, candidates[at:]); err != nil {
			return holes, err
		}
		holes = append(holes, hole)
		if hole.Before == nil {
			return holes, nil
		}
		from = hole.Before
	}
}

// walkFrom visits what can be read from key from on. last is the key visited last. failed is what ended it before the
// end.
func walkFrom(db *pebble.DB, from []byte, last *[]byte, visit func(key, value []byte) error) (failed, err error) {
	iter, failed := db.NewIter(&pebble.IterOptions{LowerBound: from})
	if failed != nil {
		return failed, nil
	}
	defer func() { err = errors.Join(err, ignoreRead(iter.Close())) }()
	for valid := iter.First(); valid; valid = iter.Next() {
		value, failed := iter.ValueAndErr()
		if failed != nil {
			return failed, nil
		}
		if err := visit(iter.Key(), value); err != nil {
			return nil, err
		}
		*last = append((*last)[:0], iter.Key()...)
	}
	return iter.Error(), nil
}

// firstReadable returns the first key of the store that can be read at or behind one of the candidates, which ascend. A
// read of a damaged block takes some tenths of a second, since Pebble looks for the one bit that would mend it: so
// candidates are tried at growing distances, and then between the last that failed and the first that did not. This may
// pass over readable keys between two damaged blocks near to each other.
func firstReadable(db *pebble.DB, candidates [][]byte) (key []byte, err error) {
	iter, err := db.NewIter(nil)
	if err != nil {
		return nil, err
	}
	defer func() { ignoreRead(iter.Close()) }()
	// at returns the key found from candidate i on, nil for the end of the store.
	at := func(i int) (key []byte, readable bool) {
		if !iter.SeekGE(candidates[i]) {
			return nil, iter.Error() == nil
		}
		_, err := iter.ValueAndErr()
		return bytes.Clone(iter.Key()), err == nil
	}
	failed, found := -1, len(candidates)
	for i := 0; i < len(candidates); i = 2*i + 1 {
		var readable bool
		if key, readable = at(i); readable {
			found = i
			break
		}
		failed = i
	}
	for failed+1 < found {
		middle := (failed + found) / 2
		if next, readable := at(middle); readable {
			key, found = next, middle
		} else {
			failed = middle
		}
	}
	if found == len(candidates) {
		return nil, nil
	}
	return key, nil
}

// ignoreRead leaves aside the error of closing an iterator, which repeats what reading met.
func ignoreRead(error) error { return nil }

// tableFirsts returns the smallest keys of all tables, ascending.
func tableFirsts(db *pebble.DB) ([][]byte, error) {
	levels, err := db.SSTables()
	if err != nil {
		return nil, err
	}
	var keys [][]byte
	for _, tables := range levels {
		for _, t := range tables {
			keys = append(keys, bytes.Clone(t.Smallest.UserKey))
		}
	}
	slices.SortFunc(keys, bytes.Compare)
	return keys, nil
}
