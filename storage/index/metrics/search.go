package metrics

import (
	"bytes"
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/model/filter"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/storage/index/records"
)

// search is a query of metrics under way.
type search struct {
	table  *Table
	query  Query
	order  sortOrder
	marker *model.Metric
	page   *filter.Page[model.Metric]
}

// begin empties the page.
func (l *search) begin() { l.page = filter.NewPage(l.order.compare, l.query.Limit, l.marker) }

func (l *search) run(ctx context.Context) error {
	if l.query.ID != nil {
		return l.read(*l.query.ID)
	}
	prefixes := l.equalPrefixes()
	if l.order.byID() {
		_, err := l.join(ctx, prefixes, 0)
		return err
	}
	if l.query.Limit > 0 {
		if len(prefixes) > 0 {
			if done, err := l.join(ctx, prefixes, l.table.limits.FewCandidates); done || err != nil {
				return err
			}
			l.begin()
		}
		if done, err := l.stream(ctx); done || err != nil {
			return err
		}
		l.begin()
	}
	_, err := l.join(ctx, prefixes, 0)
	return err
}

// equalPrefixes returns, for each filter for one value that has an index, what its keys begin with. All are followed by
// metric IDs.
func (l *search) equalPrefixes() [][]byte {
	q := &l.query
	if q.Deleted {
		return [][]byte{{keyspace.Deleted}} // they are in no other index but that of their policies
	}
	var prefixes [][]byte
	if q.Name != nil {
		prefixes = append(prefixes, records.AppendMetricFieldPrefix(nil, keyspace.FieldName, *q.Name))
	}
	if q.Creator != nil {
		prefixes = append(prefixes, records.AppendMetricFieldPrefix(nil, keyspace.FieldCreator, *q.Creator))
	}
	if q.Unit != nil && *q.Unit != "" {
		prefixes = append(prefixes, records.AppendMetricFieldPrefix(nil, keyspace.FieldUnit, *q.Unit))
	}
	if q.ArchivePolicyName != nil {
		prefixes = append(prefixes, keyspace.PolicyMetricPrefix(*q.ArchivePolicyName))
	}
	return prefixes
}

// join shows the metrics whose IDs stand under all of the prefixes (none: all metrics), by ID; if that is the order of
// the page, until it is full. done is false if there were more than most (0: no limit).
func (l *search) join(ctx context.Context, prefixes [][]byte, most int) (done bool, err error) {
	var from keyspace.ValueStart
	byID := l.order.byID()
	if byID && l.marker != nil {
		from.Value = l.marker.ID[:] // of no value but the ID
	}
	if len(prefixes) == 0 {
		return true, l.scan(ctx, from)
	}
	iterators := make([]*keyspace.ValueIterator, len(prefixes))
	for i, prefix := range prefixes {
		w, err := keyspace.NewValueIterator(ctx, l.table.log.DB, prefix, false, from)
		if err != nil {
			return false, err
		}
		defer func() { err = errors.Join(err, w.Err(), w.Close()) }()
		iterators[i] = w
	}
	found := 0
	for valid := iterators[0].Next(); valid; {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		// All iterators are brought to the highest ID among them, until it is the same.
		highest := iterators[0].ID
		agree := true
		for _, w := range iterators[1:] {
			if !w.Seek(highest) {
				return true, nil
			}
			if w.ID != highest {
				highest, agree = w.ID, false
				break
			}
		}
		if !agree {
			valid = iterators[0].Seek(highest)
			continue
		}
		if found++; most > 0 && found > most {
			return false, nil
		}
		if err := l.read(highest); err != nil {
			return false, err
		}
		if byID && l.page.Full() {
			return true, nil
		}
		valid = iterators[0].Next()
	}
	return true, nil
}

// scan shows all metrics by ID; if that is the order of the page, until it is full.
func (l *search) scan(ctx context.Context, from keyspace.ValueStart) (err error) {
	prefix := []byte{keyspace.Metric}
	iter, err := l.table.log.DB.NewIterWithContext(ctx, &pebble.IterOptions{
		LowerBound: append(prefix, from.Value...), UpperBound: keyspace.PrefixEnd(prefix)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, iter.Close()) }()
	byID := l.order.byID()
	return keyspace.EachKey(ctx, iter, func() (bool, error) {
		id, ok := keyspace.LastID(iter.Key())
		if !ok {
			return true, nil
		}
		value, err := iter.ValueAndErr()
		if err != nil {
			return false, err
		}
		if m, err := records.DecodeMetric(id, value, l.table.policyNamed); err == nil {
			l.show(m)
		} else if err := l.read(id); err != nil { // perhaps it was expunged meanwhile, and then its policy deleted
			return false, err
		}
		return !byID || !l.page.Full(), nil
	})
}

// stream shows metrics in the order of an index until the page is full. done is false where no index has the order, or
// the page was not full after so many metrics that sorting those that match may be shorter.
func (l *search) stream(ctx context.Context) (done bool, err error) {
	first := l.order.keys[0]
	if l.query.Deleted || first.Nulls != NullsDefault && (first.Nulls == NullsFirst) != first.Descending {
		return false, nil
	}
	var prefix []byte
	var value func(m *model.Metric) []byte
	// Values are followed by the ID in all of them.
	switch first.Key {
	case "name":
		prefix = []byte{keyspace.MetricField, keyspace.FieldName}
		value = func(m *model.Metric) []byte {
			return records.AppendMetricFieldPrefix(nil, keyspace.FieldName, m.Name)[2:]
		}
	case "creator":
		prefix = []byte{keyspace.MetricField, keyspace.FieldCreator}
		value = func(m *model.Metric) []byte {
			return records.AppendMetricFieldPrefix(nil, keyspace.FieldCreator, m.Creator)[2:]
		}
	case "archive_policy_name":
		prefix = []byte{keyspace.PolicyMetric}
		value = func(m *model.Metric) []byte { return keyspace.PolicyMetricPrefix(m.ArchivePolicy.Name)[1:] }
	case "id": // descending
		return l.streamBackward(ctx)
	default:
		return false, nil
	}
	exact := len(l.order.keys) == 1
	var from keyspace.ValueStart
	if l.marker != nil {
		from.Value = value(l.marker)
		if exact {
			from.After = &l.marker.ID
		}
	}
	w, err := keyspace.NewValueIterator(ctx, l.table.log.DB, prefix, first.Descending, from)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, w.Err(), w.Close()) }()
	var last []byte
	for rows := 0; w.Next(); rows++ {
		if l.page.Full() && (exact || !bytes.Equal(last, w.Value)) {
			return true, nil
		}
		if rows == max(l.table.limits.StreamedRows, 2*l.query.Limit) || ctx.Err() != nil {
			return false, ctx.Err()
		}
		last = append(last[:0], w.Value...)
		if err := l.read(w.ID); err != nil {
			return false, err
		}
	}
	return true, nil
}

// streamBackward is stream for IDs that descend.
func (l *search) streamBackward(ctx context.Context) (done bool, err error) {
	prefix := []byte{keyspace.Metric}
	bounds := &pebble.IterOptions{LowerBound: prefix, UpperBound: keyspace.PrefixEnd(prefix)}
	if l.marker != nil {
		bounds.UpperBound = keyspace.IDKey(keyspace.Metric, l.marker.ID)
	}
	iter, err := l.table.log.DB.NewIterWithContext(ctx, bounds)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, iter.Close()) }()
	rows := 0
	for valid := iter.Last(); valid && !l.page.Full(); valid = iter.Prev() {
		if rows++; rows > max(l.table.limits.StreamedRows, 2*l.query.Limit) || ctx.Err() != nil {
			return false, ctx.Err()
		}
		if id, ok := keyspace.LastID(iter.Key()); ok {
			if err := l.read(id); err != nil {
				return false, err
			}
		}
	}
	return true, iter.Error()
}

// read shows a metric, if it is there and its bytes decode.
func (l *search) read(id uuid.UUID) error {
	m, err := l.table.Read(id)
	if errors.Is(err, model.ErrNotFound) || l.table.log.SkipCorrupt(err) {
		return nil
	}
	if err == nil {
		l.show(m)
	}
	return err
}

// show puts a metric on the page if it belongs there.
func (l *search) show(m *model.Metric) {
	if l.query.matches(m) {
		l.page.Add(m)
	}
}
