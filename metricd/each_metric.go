package metricd

import (
	"context"

	"github.com/google/uuid"
)

// eachMetric returns what f answers for each of the metrics, whose sacks must be held. f is called with the lock
// of the heads held, by reads.
func eachMetric[T any](ctx context.Context, p *Metricd, metrics []uuid.UUID,
	f func(*sack, uuid.UUID) (T, error)) ([]T, error) {
	answers := make([]T, len(metrics))
	for i, metric := range metrics {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		s, err := p.sackOf(metric)
		if err != nil {
			return nil, err
		}
		if answers[i], err = readSack(ctx, s, metric, f); err != nil {
			return nil, s.error(err)
		}
	}
	return answers, nil
}

func readSack[T any](ctx context.Context, s *sack, metric uuid.UUID,
	f func(*sack, uuid.UUID) (T, error)) (answer T, err error) {
	s.catchUp(ctx)
	s.heads.RLock()
	defer s.heads.RUnlock()
	if s.closed {
		return answer, notOwned(s.number)
	}
	return f(s, metric)
}
