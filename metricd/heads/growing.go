package heads

import (
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/replica"
	"github.com/gnocco-db/gnocco/model"
)

// fewMeasures do not show whether values grow.
const fewMeasures = 3

// seriesPolicy is the name of the archive policy of new series.
var seriesPolicy = model.SeriesArchivePolicy().Name

// Growing returns metrics of the policy of new series that the next checkpoint writes for the first time, and whose
// measures never fell, but for resets.
func (hs *Heads) Growing() (ids []uuid.UUID) {
	hs.RLock()
	defer hs.RUnlock()
	var measures []carbonara.Measure
	var raw Raw
	for _, h := range hs.dirty {
		if h.hasBase || h.pending.Len() < fewMeasures || h.metric.ArchivePolicy.Name != seriesPolicy {
			continue
		}
		measures = h.AppendSorted(measures[:0], 0, carbonara.MaxTimestamp)
		raw.set(measures)
		values := raw.Values
		if h.replicas {
			_, values = replica.Counting(raw.Timestamps, values)
		}
		if model.NeverFalls(values) {
			ids = append(ids, h.metric.ID)
		}
	}
	return ids
}
