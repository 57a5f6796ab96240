package peer

import (
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"

	"gnocco/carbonara"
	"gnocco/model"
)

type groupsRequest struct {
	Policies []policy   `json:"policies"`
	Reads    []readItem `json:"reads"`
}

type readItem struct {
	Metric      uuid.UUID           `json:"metric"`
	Policy      int                 `json:"policy"` // index into Policies
	Granularity time.Duration       `json:"granularity"`
	Columns     []int               `json:"columns"`
	From        carbonara.Timestamp `json:"from"`
	To          carbonara.Timestamp `json:"to"`
	Sought      *sought             `json:"sought,omitempty"` // who does not know it sends more
}

// sought is a carbonara.Sought. JSON has no infinities: a side without bound is left out.
type sought struct {
	Method string   `json:"method"`
	Low    *float64 `json:"low,omitempty"`
	High   *float64 `json:"high,omitempty"`
}

func toSought(q *carbonara.Sought) *sought {
	if q == nil || q.Zone.Low == math.Inf(1) || q.Zone.High == math.Inf(-1) {
		return nil // nothing, or only an infinity: rare enough to be sent all
	}
	sent := &sought{Method: q.Method.String()}
	if !math.IsInf(q.Zone.Low, 0) {
		sent.Low = &q.Zone.Low
	}
	if !math.IsInf(q.Zone.High, 0) {
		sent.High = &q.Zone.High
	}
	return sent
}

func (s *sought) sought() (*carbonara.Sought, error) {
	if s == nil {
		return nil, nil
	}
	method, err := carbonara.ParseMethod(s.Method)
	if err != nil {
		return nil, fmt.Errorf("peer: sought: %w: %w", model.ErrInvalid, err)
	}
	q := &carbonara.Sought{Method: method, Zone: carbonara.Zone{Low: math.Inf(-1), High: math.Inf(1)}}
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
		From: r.From, To: r.To, Sought: toSought(r.Sought)}
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
		Columns: make([]carbonara.Column, len(i.Columns)), From: i.From, To: i.To}
	for j, c := range i.Columns {
		r.Columns[j] = carbonara.Column(c)
	}
	var err error
	r.Sought, err = i.Sought.sought()
	return r, err
}
