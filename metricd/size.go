package metricd

import (
	"github.com/google/uuid"

	"gnocco/storage/archive"
)

// Size returns what a metric takes in its sack's store. Measures that are in no checkpoint yet do not count.
func (p *Metricd) Size(metric uuid.UUID) (archive.Size, error) {
	s := p.sackOf(metric)
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.store.Size(metric)
}
