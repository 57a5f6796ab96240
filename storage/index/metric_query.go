package index

import (
	"bytes"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"gnocco/model"
)

// MetricQuery says which metrics to list, and in what order. The zero value lists all that are not deleted, by ID.
type MetricQuery struct {
	ID                *uuid.UUID // each: nil for any
	Name              *string
	Unit              *string
	Creator           *string
	ArchivePolicyName *string

	Deleted bool                     // those marked deleted instead of the others
	Where   func(*model.Metric) bool // what the caller may see; nil: all

	Sort   []SortKey // then by ID
	Limit  int       // 0: none
	Marker uuid.UUID // list what follows this metric in the order; zero: from the start
}

// SortKey is one key to sort metrics by: id, name, unit, creator, archive_policy_name, resource_id or status.
type SortKey struct {
	Key        string
	Descending bool
	Nulls      NullOrder // of what the metric does not have
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
// it reads what it returns and what the filters drop in between; in another order, all metrics.
func (s *Store) ListMetrics(ctx context.Context, q MetricQuery) ([]*model.Metric, error) {
	order, err := newMetricOrder(q.Sort)
	if err != nil {
		return nil, err
	}
	var marker *model.Metric
	if q.Marker != uuid.Nil {
		if marker, err = s.readMetric(q.Marker); errors.Is(err, model.ErrNotFound) {
			return nil, &model.FieldError{Field: "marker", Reason: fmt.Sprintf("Invalid pagination: `Invalid marker: `%s''", q.Marker)}
		}
		if err != nil {
			return nil, err
		}
	}
	page := &metricPage{order: order, limit: q.Limit}
	err = s.scanMetrics(ctx, q, order.byID(), func(m *model.Metric) bool {
		if !q.matches(m) || marker != nil && order.compare(m, marker) <= 0 {
			return true
		}
		return page.add(m)
	})
	if err := s.durable.settle(); err != nil {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("index: list metrics: %w", err)
	}
	return page.sorted(), nil
}

func (q *MetricQuery) matches(m *model.Metric) bool {
	equal := func(want *string, have string) bool { return want == nil || *want == have }
	return m.Deleted == q.Deleted && (q.ID == nil || *q.ID == m.ID) && equal(q.Name, m.Name) && equal(q.Unit, m.Unit) &&
		equal(q.Creator, m.Creator) && equal(q.ArchivePolicyName, m.ArchivePolicy.Name) && (q.Where == nil || q.Where(m))
}

// scanMetrics calls f, until it returns false, for all metrics that may match q, by ID; if byID, from q's marker on.
func (s *Store) scanMetrics(ctx context.Context, q MetricQuery, byID bool, f func(*model.Metric) bool) error {
	visit := func(m *model.Metric, err error) (bool, error) {
		if errors.Is(err, model.ErrNotFound) || s.skipCorrupt(err) {
			return true, nil
		}
		return err == nil && f(m), err
	}
	if q.ID != nil {
		_, err := visit(s.readMetric(*q.ID))
		return err
	}
	prefix := []byte{prefixMetric}
	switch {
	case q.Deleted:
		prefix = []byte{prefixDeleted}
	case q.ArchivePolicyName != nil:
		prefix = policyMetricPrefix(*q.ArchivePolicyName)
	}
	var from []byte
	if byID && q.Marker != uuid.Nil {
		from = append(slices.Clone(prefix), q.Marker[:]...)
	}
	return s.scan(ctx, prefix, from, func(key, value []byte) (bool, error) {
		id, ok := lastID(key)
		if !ok {
			return true, nil
		}
		if len(value) > 0 {
			if m, err := decodeMetric(id, value, s.policyNamed); err == nil {
				return f(m), nil
			}
		}
		return visit(s.readMetric(id)) // the key is of an index, or perhaps the metric was expunged meanwhile
	})
}

// metricOrder is a total order of metrics.
type metricOrder []func(a, b *model.Metric) int

func newMetricOrder(keys []SortKey) (metricOrder, error) {
	var order metricOrder
	for _, key := range keys {
		field, ok := sortFields[key.Key]
		if !ok {
			return nil, &model.FieldError{Field: "sort", Reason: fmt.Sprintf("Invalid pagination: `Sort key supplied is invalid: %s'", key.Key)}
		}
		if key.Key == "id" && !key.Descending {
			break // unique: further keys change nothing, and compare ends by ID
		}
		order = append(order, key.comparison(field))
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

// byID tells whether the order is that of the keys.
func (o metricOrder) byID() bool { return len(o) == 0 }

func (o metricOrder) compare(a, b *model.Metric) int {
	for _, compare := range o {
		if c := compare(a, b); c != 0 {
			return c
		}
	}
	return bytes.Compare(a.ID[:], b.ID[:])
}

// metricPage gathers the first limit metrics of an order (0: all): a heap, the last of them on top.
type metricPage struct {
	order   metricOrder
	limit   int
	metrics []*model.Metric
}

// add takes m, which comes by ID, and returns whether more can matter.
func (p *metricPage) add(m *model.Metric) bool {
	switch {
	case p.limit == 0 || p.order.byID():
		p.metrics = append(p.metrics, m)
		return p.limit == 0 || len(p.metrics) < p.limit
	case len(p.metrics) < p.limit:
		heap.Push(p, m)
	case p.order.compare(m, p.metrics[0]) < 0:
		p.metrics[0] = m
		heap.Fix(p, 0)
	}
	return true
}

func (p *metricPage) sorted() []*model.Metric {
	slices.SortFunc(p.metrics, p.order.compare)
	return p.metrics
}

// Len, Less, Swap, Push and Pop are for package heap.
func (p *metricPage) Len() int           { return len(p.metrics) }
func (p *metricPage) Less(i, j int) bool { return p.order.compare(p.metrics[i], p.metrics[j]) > 0 }
func (p *metricPage) Swap(i, j int)      { p.metrics[i], p.metrics[j] = p.metrics[j], p.metrics[i] }
func (p *metricPage) Push(x any)         { p.metrics = append(p.metrics, x.(*model.Metric)) }
func (p *metricPage) Pop() any {
	last := len(p.metrics) - 1
	m := p.metrics[last]
	p.metrics = p.metrics[:last]
	return m
}
