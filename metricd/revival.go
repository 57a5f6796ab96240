package metricd

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// noteRevival notes measures of a metric whose resource ended, if one of them is no older than its end. work is held.
func (s *sack) noteRevival(metric *model.Metric, timestamps []carbonara.Timestamp) {
	if len(timestamps) == 0 {
		return
	}
	newest := slices.Max(timestamps)
	if newest < *metric.ResourceEndedAt {
		return
	}
	if s.revivals == nil {
		s.revivals = make(map[uuid.UUID]carbonara.Timestamp)
	}
	if known, ok := s.revivals[*metric.ResourceID]; !ok || known < newest {
		s.revivals[*metric.ResourceID] = newest
	}
}

// revive tells the index of the revivals. Measures do not wait for that: if the index is away, it is told at a later
// drain. work is held.
func (s *sack) revive(ctx context.Context) {
	if len(s.revivals) == 0 {
		return
	}
	err := s.parent.options.Index.Revive(ctx, s.revivals, carbonara.FromTime(time.Now()))
	if errors.Is(err, model.ErrUnavailable) || ctx.Err() != nil {
		return
	}
	if err != nil {
		s.parent.options.Logger.Error("resources with new measures stay ended", "sack", s.number, "error", err)
	}
	s.revivals = nil
}
