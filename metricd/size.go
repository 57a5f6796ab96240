package metricd

import (
	"github.com/google/uuid"

	"gnocco/model"
	"gnocco/storage/archive"
)

// Size returns what a metric takes in its sack's store, which must be held. Measures that are in no checkpoint yet do not count.
func (p *Metricd) Size(metric uuid.UUID) (archive.Size, error) {
	number := model.Sack(metric, len(p.sacks))
	s := p.sacks[number].Load()
	if s == nil {
		return archive.Size{}, notOwned(number)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return archive.Size{}, notOwned(number)
	}
	return s.store.Size(metric)
}
