package metricd

import (
	"cmp"
	"context"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
)

// LastMeasures returns the timestamp of each metric's newest measure that is not ahead, if it has any such, or of its
// newest one, 0 for none, in checkpoints or not. The sacks must be held.
func (p *Metricd) LastMeasures(ctx context.Context, metrics []uuid.UUID) ([]carbonara.Timestamp, error) {
	return eachMetric(ctx, p, metrics, (*sack).lastMeasure)
}

func (s *sack) lastMeasure(metric uuid.UUID) (carbonara.Timestamp, error) {
	if h := s.heads.Of(metric); h != nil {
		return cmp.Or(h.Present(), newestOf(h).Timestamp), nil // 0 without measures
	}
	end, err := s.store.RawEnd(metric)
	return cmp.Or(end.Present, end.Newest), err
}
