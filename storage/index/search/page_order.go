package search

import (
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/model/filter"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
)

// orderIndex is an index in whose order the page of a query can be read.
type orderIndex struct {
	prefixes   [][]byte
	descending bool
	exact      bool // its order is that of the page; else that of the first sort key
	complete   bool // all resources have a key; else those without come last
	group      int  // bytes of a key's value that the first sort key is; 0: all
	value      func(r *model.Resource) (value []byte, ok bool)
}

// stream shows resources in the order of an index until the page is full. done is false where no index has the order,
// or the page was not full after so many resources that another way may be shorter.
func (s *search) stream(ctx context.Context) (done bool, err error) {
	var keys []filter.SortKey
	if s.query.Order != nil {
		keys = s.query.Order.Keys()
	}
	if len(keys) == 0 || keys[0].Column == "id" {
		return s.streamByID(ctx, len(keys) > 0 && keys[0].Descending)
	}
	index, ok := s.orderIndex(keys)
	if !ok {
		return false, nil
	}
	var from keyspace.ValueStart
	if after := s.query.After; after != nil {
		if from.Value, ok = index.value(after); !ok {
			return false, nil
		}
		if index.exact {
			from.After = &after.ID
		} else if index.group > 0 {
			from.Value = from.Value[:index.group]
		}
	}
	m, stop, err := keyspace.Merge(ctx, s.snapshot, index.prefixes, index.descending, from)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	var last []byte
	for rows := 0; m.Next(); rows++ {
		if s.page.Full() && (index.exact || !sameGroup(last, m.At.Value, index.group)) {
			return true, nil
		}
		if rows == s.streamedRows() || ctx.Err() != nil {
			return false, ctx.Err()
		}
		last = append(last[:0], m.At.Value...)
		if err := s.read(s.decoder, m.At.ID); err != nil {
			return false, err
		}
	}
	return index.complete || s.page.Full(), nil
}

// streamedRows returns how many resources are read in the order of the page before another way may be shorter.
func (s *search) streamedRows() int {
	return max(s.resources.readLimit(s.resources.limits.StreamedRows), 2*s.query.Limit)
}

// orderIndex finds the index of an order that does not begin with the ID.
func (s *search) orderIndex(keys []filter.SortKey) (*orderIndex, bool) {
	first := keys[0]
	index := &orderIndex{descending: first.Descending}
	endsAt := func(n int) bool { return len(keys) == n || keys[n].Column == "id" && !keys[n].Descending }
	if first.Column == "revision_start" {
		index.prefixes = s.typePrefixes()
		if len(index.prefixes) > mostMerged {
			return nil, false
		}
		index.complete, index.group = true, 8
		index.exact = len(keys) > 1 && keys[1].Column == "started_at" &&
			keys[1].Descending == first.Descending && endsAt(2)
		index.value = func(r *model.Resource) ([]byte, bool) {
			return keyspace.AppendTime(keyspace.AppendTime(nil, r.RevisionStart), r.StartedAt), true
		}
		return index, true
	}
	index.prefixes = valuePrefixes(first.Column, s.kind, func(any) bool { return true })
	if index.prefixes == nil || len(index.prefixes) > mostMerged {
		return nil, false
	}
	a := s.kind.Attribute(first.Column)
	index.complete = first.Column == "creator" || first.Column == "started_at" || a != nil && a.Required
	index.exact = endsAt(1)
	index.value = func(r *model.Resource) ([]byte, bool) {
		value := first.Value(r)
		if value == nil {
			return nil, false
		}
		return keyspace.AppendValue(nil, value), true
	}
	return index, index.complete || !first.NullsFirst
}

// mostMerged is how many ranges of keys are walked side by side.
const mostMerged = 64

// typePrefixes returns what the keys of the searched types' resources begin with.
func (s *search) typePrefixes() [][]byte {
	if s.kind.Name != model.GenericType {
		return [][]byte{keyspace.TypeResourcePrefix(s.kind.Name)}
	}
	var prefixes [][]byte
	for name := range s.decoder.Types {
		prefixes = append(prefixes, keyspace.TypeResourcePrefix(name))
	}
	for name := range s.before {
		if s.decoder.Types[name] == nil { // gone since, and its resources before it
			prefixes = append(prefixes, keyspace.TypeResourcePrefix(name))
		}
	}
	return prefixes
}

// streamByID is stream for the order of the IDs, in which resources lie.
func (s *search) streamByID(ctx context.Context, descending bool) (done bool, err error) {
	bounds := &pebble.IterOptions{LowerBound: []byte{keyspace.Resource},
		UpperBound: keyspace.PrefixEnd([]byte{keyspace.Resource})}
	if after := s.query.After; after != nil {
		if key := keyspace.IDKey(keyspace.Resource, after.ID); descending {
			bounds.UpperBound = key
		} else {
			bounds.LowerBound = append(key, 0)
		}
	}
	iter, err := s.snapshot.NewIterWithContext(ctx, bounds)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, iter.Close()) }()
	first, next := iter.First, iter.Next
	if descending {
		first, next = iter.Last, iter.Prev
	}
	rows := 0
	for valid := first(); valid; valid = next() {
		if s.page.Full() {
			return true, nil
		}
		if rows++; rows > max(s.resources.limits.StreamedRows, 2*s.query.Limit) || ctx.Err() != nil {
			return false, ctx.Err()
		}
		value, err := iter.ValueAndErr()
		if err != nil {
			return false, err
		}
		if id, _, ok := stateOfKey(iter.Key()); ok {
			if err := s.show(s.decoder, id, 0, value); err != nil {
				return false, err
			}
		}
	}
	return true, iter.Error()
}
