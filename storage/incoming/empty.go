package incoming

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// Empty tells whether the store holds no records at all: whatever it took is acknowledged, and deleted.
func (s *Store) Empty() (empty bool, err error) {
	err = s.read(func() error {
		lower, upper := key(0, 0), key(len(s.sacks), 0)
		iter, err := s.db.NewIter(&pebble.IterOptions{LowerBound: lower[:], UpperBound: upper[:]})
		if err != nil {
			return err
		}
		defer iter.Close()
		empty = !iter.First()
		return iter.Error()
	})
	if err != nil {
		return false, fmt.Errorf("incoming: %w", err)
	}
	return empty, nil
}
