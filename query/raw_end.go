package query

import (
	"context"
	"math"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// RawEnd says which raw measures of a metric are kept.
type RawEnd struct {
	KeptFrom carbonara.Timestamp // they are complete from here on
	Newest   carbonara.Timestamp
}

// RawEnd returns nil for a metric without measures.
func (r *Reader) RawEnd(ctx context.Context, metric *model.Metric, staleness *Staleness) (*RawEnd, error) {
	columns := []carbonara.Column{carbonara.ColumnLast}
	read := model.Read{Metric: metric, Columns: columns, From: math.MinInt64, To: math.MinInt64}
	var groups carbonara.Groups
	if err := r.Archives.Groups(ctx, read, staleness, &groups); err != nil || groups.Len() == 0 {
		return nil, err
	}
	return &RawEnd{groups.Starts[0] + 1, groups.Starts[groups.Len()-1]}, nil
}
