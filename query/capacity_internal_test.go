package query

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/model"
)

// refusing reads a million groups and then has no memory for more.
type refusing struct{ Archives }

func (refusing) Groups(_ context.Context, read model.Read, _ *Staleness, dst *carbonara.Groups) error {
	dst.Reset(read.Granularity, read.Columns)
	dst.Starts = make([]carbonara.Timestamp, 1_000_000)
	for i := range dst.Values {
		dst.Values[i] = make([]float64, 1_000_000)
	}
	return budget.ErrExhausted
}

// The memory of a refused read is accounted for, so that the next read does not keep it.
func TestCapacityOfRefusedRead(t *testing.T) {
	read := MetricRead{Metric: &model.Metric{}, Granularities: []time.Duration{time.Second}, To: carbonara.MaxTimestamp}
	var dst Aggregates
	if err := (&Reader{Archives: refusing{}}).Aggregates(t.Context(), &read, &dst); !errors.Is(err,
		budget.ErrExhausted) {
		t.Fatal(err)
	}
	if got := dst.Capacity(); got < 8_000_000 {
		t.Errorf("%d bytes stay, by what Capacity says", got)
	}
}
