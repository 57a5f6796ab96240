package metricd

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// revivals are resources that ended, and have measures since then: the newest timestamp, until the index knows. They
// belong to the worker.
type revivals map[uuid.UUID]carbonara.Timestamp

// note notes measures of a metric whose resource ended, if one of them is no older than its end.
func (r *revivals) note(metric *model.Metric, timestamps []carbonara.Timestamp) {
	if len(timestamps) == 0 {
		return
	}
	newest := slices.Max(timestamps)
	if newest < *metric.ResourceEndedAt {
		return
	}
	if *r == nil {
		*r = make(revivals)
	}
	if known, ok := (*r)[*metric.ResourceID]; !ok || known < newest {
		(*r)[*metric.ResourceID] = newest
	}
}

// tell tells the index of the revivals. Measures do not wait for that: if the index is away, it is told at a later
// drain.
func (r *revivals) tell(ctx context.Context, index Index, logger *slog.Logger, sack int) {
	if len(*r) == 0 {
		return
	}
	err := index.Revive(ctx, *r, carbonara.FromTime(time.Now()))
	if errors.Is(err, model.ErrUnavailable) || ctx.Err() != nil {
		return
	}
	if err != nil {
		logger.Error("resources with new measures stay ended", "sack", sack, "error", err)
	}
	*r = nil
}
