package metrics

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
)

// Query says which metrics to list, and in what order. The zero value lists all that are not deleted, by ID.
type Query struct {
	ID                *uuid.UUID // each: nil for any
	Name              *string
	Unit              *string
	Creator           *string
	ArchivePolicyName *string
	// Labels are those of a series that was pushed with labels, by name. "": it lacks this one. Empty: any metric.
	Labels map[string]string

	Deleted bool                     // those marked deleted instead of the others
	Visible func(*model.Metric) bool // what the caller may see; nil: all

	// LastMeasures returns the timestamp of each metric's newest measure, 0 for none; nil if the query is not sorted by
	// it.
	LastMeasures func(ctx context.Context, metrics []uuid.UUID) ([]carbonara.Timestamp, error)

	Sort   []SortKey // then by ID
	Limit  int       // 0: none
	Marker uuid.UUID // list what follows this metric in the order; zero: from the start
}

// SortKey is one key to sort metrics by: id, name, unit, creator, archive_policy_name, resource_id, status or
// last_measure_timestamp.
type SortKey struct {
	Key        string
	Descending bool
	Nulls      NullOrder // where a metric lacks the field
}

// NullOrder says where to sort what is absent.
type NullOrder uint8

// NullsDefault counts absent as greater than all: last if ascending, first if descending.
const (
	NullsDefault NullOrder = iota
	NullsFirst
	NullsLast
)

// ListMetrics returns the metrics of a query. It returns a *model.FieldError for an unknown sort key or marker. By ID,
// it reads what the filters for name, creator, archive policy and unit let through; sorted by name, creator or archive
// policy, what lies there in that order; in any other order, all that match.
func (s *Table) ListMetrics(ctx context.Context, q Query) ([]*model.Metric, error) {
	keys := q.decisiveKeys()
	order, err := newOrder(keys, nil)
	if err != nil {
		return nil, err
	}
	var marker *model.Metric
	if q.Marker != uuid.Nil {
		if marker, err = s.Read(q.Marker); errors.Is(err, model.ErrNotFound) {
			return nil, &model.FieldError{Field: "marker",
				Reason: fmt.Sprintf("Invalid pagination: `Invalid marker: `%s''", q.Marker)}
		}
		if err != nil {
			return nil, err
		}
	}
	if q.LastMeasures != nil && slices.ContainsFunc(order.keys, func(k SortKey) bool {
		return k.Key == lastMeasureKey
	}) {
		last, err := s.lastMeasures(ctx, &q)
		if err != nil {
			return nil, err
		}
		order, _ = newOrder(keys, last) // as above
	}
	l := &search{table: s, query: q, order: order, marker: marker}
	l.begin()
	if err := s.log.Durable(l.run(ctx)); err != nil {
		return nil, fmt.Errorf("index: list metrics: %w", err)
	}
	return l.page.Items(), nil
}

// lastMeasures returns the newest measures of all metrics of a query, and of its marker.
func (s *Table) lastMeasures(ctx context.Context, q *Query) (map[uuid.UUID]carbonara.Timestamp, error) {
	var ids []uuid.UUID
	all := *q
	all.Sort, all.Limit, all.Marker = nil, 1, uuid.Nil // by ID; the page keeps next to nothing
	all.Visible = func(m *model.Metric) bool {
		if q.Visible == nil || q.Visible(m) {
			ids = append(ids, m.ID)
		}
		return false
	}
	if _, err := s.ListMetrics(ctx, all); err != nil {
		return nil, err
	}
	if q.Marker != uuid.Nil {
		ids = append(ids, q.Marker)
	}
	last := make(map[uuid.UUID]carbonara.Timestamp, len(ids))
	for some := range slices.Chunk(ids, lastMeasuresAtOnce) {
		found, err := q.LastMeasures(ctx, some)
		if err != nil {
			return nil, err
		}
		for i, id := range some {
			last[id] = found[i]
		}
	}
	return last, nil
}

const (
	lastMeasureKey     = "last_measure_timestamp"
	lastMeasuresAtOnce = 10_000
)

// decisiveKeys returns the sort keys without those in which all that the query lists are equal. Unknown ones stay.
func (q *Query) decisiveKeys() []SortKey {
	same := map[string]bool{"status": true, "name": q.Name != nil, "unit": q.Unit != nil, "creator": q.Creator != nil,
		"archive_policy_name": q.ArchivePolicyName != nil}
	var keys []SortKey
	for _, key := range q.Sort {
		if !same[key.Key] {
			keys = append(keys, key)
		}
	}
	return keys
}

func (q *Query) matches(m *model.Metric) bool {
	equal := func(want *string, have string) bool { return want == nil || *want == have }
	return m.Deleted == q.Deleted && (q.ID == nil || *q.ID == m.ID) && equal(q.Name, m.Name) && equal(q.Unit, m.Unit) &&
		equal(q.Creator, m.Creator) && equal(q.ArchivePolicyName, m.ArchivePolicy.Name) && q.matchesLabels(m) &&
		(q.Visible == nil || q.Visible(m))
}

func (q *Query) matchesLabels(m *model.Metric) bool {
	for name, value := range q.Labels {
		if m.Labels == "" || m.Labels.Get(name) != value {
			return false
		}
	}
	return true
}

// sortOrder is a total order of metrics.
type sortOrder struct {
	keys     []SortKey
	compares []func(a, b *model.Metric) int // one a key
}

// newOrder returns the order by keys. One key may be the newest measure, in last.
func newOrder(keys []SortKey, last map[uuid.UUID]carbonara.Timestamp) (sortOrder, error) {
	var order sortOrder
	for _, key := range keys {
		field, ok := sortFields[key.Key]
		if key.Key == lastMeasureKey {
			ok, field = true, func(m *model.Metric) string {
				if last[m.ID] == 0 {
					return ""
				}
				return string(binary.BigEndian.AppendUint64(nil, uint64(last[m.ID])))
			}
		}
		if !ok {
			return sortOrder{}, &model.FieldError{Field: "sort",
				Reason: fmt.Sprintf("Invalid pagination: `Sort key supplied is invalid: %s'", key.Key)}
		}
		if key.Key == "id" && !key.Descending {
			break // unique: further keys change nothing, and compare ends by ID
		}
		order.keys = append(order.keys, key)
		order.compares = append(order.compares, key.comparison(field))
	}
	return order, nil
}

func (k SortKey) comparison(field func(*model.Metric) string) func(a, b *model.Metric) int {
	sign := 1
	if k.Descending {
		sign = -1
	}
	null := sign // of a null against a value
	switch k.Nulls {
	case NullsFirst:
		null = -1
	case NullsLast:
		null = 1
	}
	return func(a, b *model.Metric) int {
		x, y := field(a), field(b)
		switch {
		case x == y:
			return 0
		case x == "":
			return null
		case y == "":
			return -null
		}
		return sign * strings.Compare(x, y)
	}
}

// sortFields gives the text that each key is compared by, "" if the metric has none.
var sortFields = map[string]func(*model.Metric) string{
	"id":                  func(m *model.Metric) string { return string(m.ID[:]) },
	"name":                func(m *model.Metric) string { return m.Name },
	"unit":                func(m *model.Metric) string { return m.Unit },
	"creator":             func(m *model.Metric) string { return m.Creator },
	"archive_policy_name": func(m *model.Metric) string { return m.ArchivePolicy.Name },
	"resource_id": func(m *model.Metric) string {
		if m.ResourceID == nil {
			return ""
		}
		return string(m.ResourceID[:])
	},
	"status": func(m *model.Metric) string {
		if m.Deleted {
			return "delete"
		}
		return "active"
	},
}

// byID reports whether the order is the order of the keys.
func (o sortOrder) byID() bool { return len(o.compares) == 0 }

func (o sortOrder) compare(a, b *model.Metric) int {
	for _, compare := range o.compares {
		if c := compare(a, b); c != 0 {
			return c
		}
	}
	return model.CompareIDs(a.ID, b.ID)
}

// EachMetric calls f for all metrics that are not marked deleted.
func (s *Table) EachMetric(ctx context.Context, f func(*model.Metric)) error {
	const together = 512
	batches, failure := make(chan []*model.Metric, 4), make(chan error, 1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // reads and decodes, beside f
		defer close(batches)
		batch := make([]*model.Metric, 0, together)
		send := func() {
			select {
			case batches <- batch:
			case <-ctx.Done():
			}
			batch = make([]*model.Metric, 0, together)
		}
		_, err := s.ListMetrics(ctx, Query{Visible: func(m *model.Metric) bool {
			if batch = append(batch, m); len(batch) == together {
				send()
			}
			return false
		}})
		send()
		failure <- err
	}()
	for batch := range batches {
		for _, m := range batch {
			f(m)
		}
	}
	return <-failure
}

// MetricsOfPolicy returns the IDs of up to limit (0: all) metrics of a policy behind one (zero: from the first),
// ascending, including those marked deleted.
func (s *Table) MetricsOfPolicy(ctx context.Context, name string, after uuid.UUID,
	limit int) (ids []uuid.UUID, err error) {
	prefix := keyspace.PolicyMetricPrefix(name)
	var from []byte
	if after != uuid.Nil {
		from = append(keyspace.PolicyMetricKey(name, after), 0)
	}
	err = s.log.Scan(ctx, prefix, from, func(key, _ []byte) (bool, error) {
		if id, ok := keyspace.LastID(key); ok && len(key) == len(prefix)+len(id) {
			ids = append(ids, id)
		}
		return limit == 0 || len(ids) < limit, nil
	})
	return ids, err
}
