package heads

import (
	"slices"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// Raw is memory for measures as two columns.
type Raw struct {
	Timestamps []carbonara.Timestamp
	Values     []float64
}

// ReadAfterEnd reads the end of a metric's raw series and, if wants returns ok for it, the measures from since on.
func (r *Raw) ReadAfterEnd(walk *archive.Walk, metric uuid.UUID,
	wants func(carbonara.RawEnd) (since carbonara.Timestamp, ok bool)) (end archive.RawEnd, err error) {
	r.Timestamps, r.Values = r.Timestamps[:0], r.Values[:0]
	end, r.Timestamps, r.Values, err = walk.EndAndRaw(metric, r.Timestamps, r.Values, wants)
	return end, err
}

// CutAt leaves out the measures at t or later.
func (r *Raw) CutAt(t carbonara.Timestamp) {
	end, _ := slices.BinarySearch(r.Timestamps, t)
	r.Timestamps, r.Values = r.Timestamps[:end], r.Values[:end]
}

// set fills r with measures.
func (r *Raw) set(measures []carbonara.Measure) {
	r.Timestamps, r.Values = r.Timestamps[:0], r.Values[:0]
	for _, m := range measures {
		r.Timestamps = append(r.Timestamps, m.Timestamp)
		r.Values = append(r.Values, m.Value)
	}
}

// Merge calls take with the measures and later ones, in order of time. Of equal timestamps the later one counts.
func (r *Raw) Merge(pending []carbonara.Measure, take func(carbonara.Timestamp, float64)) {
	i := 0
	for j, t := range r.Timestamps {
		for i < len(pending) && pending[i].Timestamp < t {
			take(pending[i].Timestamp, pending[i].Value)
			i++
		}
		if i < len(pending) && pending[i].Timestamp == t {
			continue // the pending one arrived later
		}
		take(t, r.Values[j])
	}
	for ; i < len(pending); i++ {
		take(pending[i].Timestamp, pending[i].Value)
	}
}
