package engine

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"
)

// Get returns a copy of a key's value, nil if there is no such key.
func Get(from pebble.Reader, key []byte) ([]byte, error) {
	value, closer, err := from.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return append([]byte{}, value...), closer.Close()
}

// Each calls use with each key from lower to upper, exclusive, and its value, in order, until use returns an error.
// Both are valid during the call. A nil bound is none.
func Each(from pebble.Reader, lower, upper []byte, use func(key, value []byte) error) error {
	iter, err := from.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return err
	}
	for valid := iter.First(); valid; valid = iter.Next() {
		value, err := iter.ValueAndErr()
		if err == nil {
			err = use(iter.Key(), value)
		}
		if err != nil {
			return errors.Join(err, iter.Close())
		}
	}
	return errors.Join(iter.Error(), iter.Close())
}
