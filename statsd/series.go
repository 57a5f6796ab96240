package statsd

import (
	"context"
	"maps"
	"slices"

	"github.com/gnocco-db/gnocco/api/series"
	"github.com/gnocco-db/gnocco/model"
)

// maxBatch is the most measures of one batch of series.
const maxBatch = 5000

// storeSeries stores the gathered metrics as series with labels.
func (s *Server) storeSeries(ctx context.Context, metrics [kinds]map[string]*metric) (err error) {
	measures := 0
	store := func() {
		if failure := s.options.Store(ctx, s.options.Creator, "statsd", &s.series); failure != nil {
			s.instruments.refuse(reasonStore, measures)
			err = failure
		}
		s.series.Reset()
		measures = 0
	}
	for _, byName := range metrics {
		for _, key := range slices.Sorted(maps.Keys(byName)) {
			var labels series.Labels
			for name, value := range model.Labels(key).All() {
				labels.Set(name, value)
			}
			for at, value := range byName[key].measures() {
				_ = s.series.Add(labels, at, value) // it acquires no memory
				if measures++; measures == maxBatch {
					store()
				}
			}
		}
	}
	if measures > 0 {
		store()
	}
	return err
}
