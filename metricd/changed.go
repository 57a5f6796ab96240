package metricd

import (
	"context"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/metricd/changes"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// always is the range of changes that may touch all that an archive holds.
var always = model.Replacement{To: carbonara.MaxTimestamp}

// Changes answers a listener to the changes of a sack, which must be held.
func (p *Metricd) Changes(ctx context.Context, sack int, r changes.Request) (changes.Answer, error) {
	s := p.sacks[sack].Load()
	if s == nil {
		return changes.Answer{}, notOwned(sack)
	}
	s.catchUp(ctx)
	answer, stored := s.changes.Ask(r)
	if stored {
		return answer, nil
	}
	s.work.Lock()
	defer s.work.Unlock()
	if s.view.IsClosed() {
		return answer, notOwned(s.number)
	}
	c := s.store.NewCheckpoint()
	defer c.Close()
	c.Set(archive.ChangesKey, nil) // commit sets it while somebody listens
	return answer, s.error(s.commit(c, nil, &always, func() {}))
}

// commit makes a change of the archives of metrics durable, in a range of time, with the notes of it and of all earlier
// ones, and then visible.
func (s *sack) commit(c *archive.Checkpoint, metrics []uuid.UUID, span *model.Replacement, apply func()) error {
	changed := make([]changes.Change, len(metrics))
	for i, id := range metrics {
		changed[i] = changes.Change{Metric: id, From: span.From, To: span.To}
	}
	if encoded := s.changes.Encode(changed); encoded != nil {
		c.Set(archive.ChangesKey, encoded)
	}
	return s.view.Commit(c, func() {
		apply()
		s.changes.Note(changed...)
	})
}

// noteLate notes the measures of the request in hand that lie before the horizon.
func (s *sack) noteLate(horizon carbonara.Timestamp) {
	for i := 0; i < len(s.request.measures.Metrics) && horizon >= 0; i++ {
		timestamps, _ := s.request.measures.Of(i)
		for _, t := range timestamps {
			if t <= horizon {
				s.changes.Note(changes.Change{Metric: s.request.measures.Metrics[i], From: t, To: t + 1})
			}
		}
	}
}
