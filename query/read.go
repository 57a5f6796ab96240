package query

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/aggregates"
)

// Reader answers reads from archives. It is for many requests at once.
type Reader struct {
	Archives  Archives
	Resampler carbonara.Resampler // of resampling and of dynamic aggregates
}

// refreshTimeout is Gnocchi's default operation_timeout.
const refreshTimeout = 10 * time.Second

// Refresh waits until all that was accepted for these metrics can be read.
func (r *Reader) Refresh(ctx context.Context, metrics ...*model.Metric) error {
	ids := make([]uuid.UUID, len(metrics))
	for i, metric := range metrics {
		ids[i] = metric.ID
	}
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	return r.Archives.Refresh(ctx, ids)
}

// Read is a request for the aggregates of many metrics, in any query language.
type Read struct {
	From, To    carbonara.Timestamp // To is exclusive
	Granularity time.Duration       // 0: all that the metrics have in common
	Options     aggregates.Options  // how series are aligned; the Reader sets the Resampler
	Staleness   *Staleness          // how old the answer may be; nil: fresh
	Rows        *Rows               // how many the answer may have; nil: any number
	Values      *Arena              // lends memory for the aggregates; its owner releases it when the answer is written
	OfSketches  bool                // the reader says so: the answer has percentiles of sketches
	whole       bool                // it is not given up for parts before there is no memory left
}

// Restart forgets what was read, for the same to be read once more.
func (r *Read) Restart() {
	r.Rows.reset()
	r.Values.Release()
}
