package peer

import (
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

type groupsRequest struct {
	Policies Policies   `json:"policies"`
	Reads    []readItem `json:"reads"`
}

type readItem struct {
	Metric      uuid.UUID           `json:"metric"`
	Policy      int                 `json:"policy"` // index into Policies
	Granularity time.Duration       `json:"granularity"`
	Columns     []int               `json:"columns"`
	From        carbonara.Timestamp `json:"from"`
	To          carbonara.Timestamp `json:"to"`
	// ValueFilter is optional: a process that does not know this field sends more.
	ValueFilter *valueFilter `json:"value_filter,omitempty"`
	Lead        bool         `json:"lead,omitempty"`
}

// valueFilter is a carbonara.ValueFilter as JSON. JSON has no infinities: a side without a bound is left out.
type valueFilter struct {
	Method string   `json:"method"`
	Low    *float64 `json:"low,omitempty"`
	High   *float64 `json:"high,omitempty"`
}

func toValueFilter(q *carbonara.ValueFilter) *valueFilter {
	if q == nil || q.Zone.Low == math.Inf(1) || q.Zone.High == math.Inf(-1) {
		return nil // no filter, or one with infinities only, which is rare: all is sent
	}
	sent := &valueFilter{Method: q.Method.String()}
	if !math.IsInf(q.Zone.Low, 0) {
		sent.Low = &q.Zone.Low
	}
	if !math.IsInf(q.Zone.High, 0) {
		sent.High = &q.Zone.High
	}
	return sent
}

func (s *valueFilter) valueFilter() (*carbonara.ValueFilter, error) {
	if s == nil {
		return nil, nil
	}
	method, err := carbonara.ParseMethod(s.Method)
	if err != nil {
		return nil, fmt.Errorf("peer: value_filter: %w: %w", model.ErrInvalid, err)
	}
	q := &carbonara.ValueFilter{Method: method, Zone: carbonara.Zone{Low: math.Inf(-1), High: math.Inf(1)}}
	if s.Low != nil {
		q.Zone.Low = *s.Low
	}
	if s.High != nil {
		q.Zone.High = *s.High
	}
	return q, nil
}

func toReadItem(r *model.Read, numbers *policies) readItem {
	item := readItem{Metric: r.Metric.ID, Policy: numbers.of(r.Metric.ArchivePolicy), Granularity: r.Granularity,
		From: r.From, To: r.To, ValueFilter: toValueFilter(r.ValueFilter), Lead: r.Lead}
	for _, column := range r.Columns {
		item.Columns = append(item.Columns, int(column))
	}
	return item
}

func (i *readItem) model(policies []*model.ArchivePolicy) (model.Read, error) {
	if i.Policy < 0 || i.Policy >= len(policies) {
		return model.Read{}, model.ErrInvalid
	}
	r := model.Read{Metric: &model.Metric{ID: i.Metric, ArchivePolicy: policies[i.Policy]}, Granularity: i.Granularity,
		Columns: make([]carbonara.Column, len(i.Columns)), From: i.From, To: i.To, Lead: i.Lead}
	for j, c := range i.Columns {
		r.Columns[j] = carbonara.Column(c)
	}
	var err error
	r.ValueFilter, err = i.ValueFilter.valueFilter()
	return r, err
}
