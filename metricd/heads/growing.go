package heads

import (
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
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
	var values []float64
	for _, h := range hs.dirty {
		if h.hasBase || h.pending.Len() < fewMeasures || h.metric.ArchivePolicy.Name != seriesPolicy {
			continue
		}
		measures, values = h.AppendSorted(measures[:0], 0), values[:0]
		for _, m := range measures {
			values = append(values, m.Value)
		}
		if model.NeverFalls(values) {
			ids = append(ids, h.metric.ID)
		}
	}
	return ids
}
