package keyspace

import (
	"context"

	"github.com/cockroachdb/pebble/v2"
)

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
