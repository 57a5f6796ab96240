package metricd

import (
	"context"

	"github.com/google/uuid"

	"gnocco/carbonara"
)

// LastMeasures returns the timestamp of each metric's newest measure, 0 for none, in checkpoints or not. The sacks must be held.
func (p *Metricd) LastMeasures(ctx context.Context, metrics []uuid.UUID) ([]carbonara.Timestamp, error) {
	last := make([]carbonara.Timestamp, len(metrics))
	for i, metric := range metrics {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		s, err := p.sackOf(metric)
		if err != nil {
			return nil, err
		}
		if last[i], err = s.lastMeasure(metric); err != nil {
			return nil, s.error(err)
		}
	}
	return last, nil
}

func (s *sack) lastMeasure(metric uuid.UUID) (carbonara.Timestamp, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return 0, notOwned(s.number)
	}
	if h := s.heads[metric]; h != nil {
		return h.newest.Timestamp, nil // 0 without measures
	}
	end, err := s.store.RawEnd(metric)
	return end.Newest.Timestamp, err
}
