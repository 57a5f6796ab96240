package search

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model/filter"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/storage/index/records"
)

// scan returns the IDs of the keys below prefix whose values are in a range; ok is false if limit does not allow it.
func (c *candidates) scan(ctx context.Context, prefix []byte, r *filter.Range,
	limit candidateLimit) (ids []uuid.UUID, ok bool, err error) {
	lower, upper := rangeOfKeys(prefix, r)
	if upper != nil && bytes.Compare(lower, upper) >= 0 {
		return nil, true, nil // from a higher value to a lower
	}
	if !r.HasPattern() || limit.keys < manyKeys {
		return c.scanPart(ctx, prefix, r, limit, lower, upper)
	}
	// All values are looked at, by as many goroutines as there are cores.
	bounds := append(append([][]byte{lower}, c.tableStarts(lower, upper)...), upper)
	parts := make([][]uuid.UUID, len(bounds)-1)
	complete := make([]bool, len(parts))
	err = keyspace.InTurns(len(parts), func(i int) (err error) {
		parts[i], complete[i], err = c.scanPart(ctx, prefix, r, limit, bounds[i], bounds[i+1])
		return err
	})
	ids = slices.Concat(parts...)
	return ids, !slices.Contains(complete, false) && len(ids) <= limit.found, err
}

// manyKeys is how many are worth a look at how tables cut them.
const manyKeys = 10_000

// rangeOfKeys returns the first key below prefix that may have a value in a range, and the first after all that may.
func rangeOfKeys(prefix []byte, r *filter.Range) (lower, upper []byte) {
	lower, upper = prefix, keyspace.PrefixEnd(prefix)
	switch {
	case r.Prefix != "":
		lower = keyspace.AppendTextPrefix(bytes.Clone(prefix), r.Prefix)
		upper = keyspace.PrefixEnd(lower)
	default:
		if r.Low != nil {
			lower = keyspace.AppendValue(bytes.Clone(prefix), r.Low)
		}
		if r.High != nil {
			upper = keyspace.PrefixEnd(keyspace.AppendValue(bytes.Clone(prefix), r.High))
		}
	}
	return lower, upper
}

// tableStarts returns where tables begin between two keys, ascending: parts of about the same length. Without tables,
// or where they cannot be told, there are none.
func (c *candidates) tableStarts(lower, upper []byte) (starts [][]byte) {
	levels, err := c.db.SSTables(pebble.WithKeyRangeFilter(lower, upper))
	if err != nil {
		return nil
	}
	largest := 0
	for i := range levels { // the level with most of them has the most keys
		if len(levels[i]) > len(levels[largest]) {
			largest = i
		}
	}
	for _, table := range levels[largest] {
		if start := table.Smallest.UserKey; bytes.Compare(start, lower) > 0 && bytes.Compare(start, upper) < 0 {
			starts = append(starts, start)
		}
	}
	slices.SortFunc(starts, bytes.Compare)
	return slices.CompactFunc(starts, bytes.Equal)
}

// scanPart is scan for the keys between two.
func (c *candidates) scanPart(
	ctx context.Context, prefix []byte, r *filter.Range, limit candidateLimit, lower, upper []byte,
) (ids []uuid.UUID, ok bool, err error) {
	iter, err := c.reader.NewIterWithContext(ctx, &pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, iter.Close()) }()
	ok = true
	hasPattern, keys := r.HasPattern(), 0
	var scratch []byte
	err = keyspace.EachKey(ctx, iter, func() (bool, error) {
		key := iter.Key()
		if keys++; keys > limit.keys || len(key) < len(prefix)+len(uuid.UUID{}) {
			ok = false
			return false, nil
		}
		if hasPattern {
			var text []byte
			if text, scratch = keyspace.TextOfKey(key[len(prefix):len(key)-len(uuid.UUID{})],
				scratch); !r.MatchesText(records.Text(text)) {
				return true, nil
			}
		}
		if ok = len(ids) < limit.found; ok {
			id, _ := keyspace.LastID(key)
			ids = append(ids, id)
		}
		return ok, nil
	})
	return ids, ok, err
}
