package peer

import (
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
	Lead        bool                `json:"lead,omitempty"`
}

func toReadItem(r *model.Read, numbers *policies) readItem {
	item := readItem{Metric: r.Metric.ID, Policy: numbers.of(r.Metric.ArchivePolicy), Granularity: r.Granularity,
		From: r.From, To: r.To, Lead: r.Lead}
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
	return r, nil
}
