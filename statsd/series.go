package statsd

import (
	"context"
	"maps"
	"slices"

	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/model"
)

// storeSeries stores the gathered metrics as series with labels.
func (s *Server) storeSeries(ctx context.Context, metrics [kinds]map[string]*metric) (err error) {
	store := func() {
		if failure := s.options.Store(ctx, s.options.Creator, "statsd", &s.series); failure != nil {
			s.instruments.refuse(reasonStore, s.series.Measures())
			err = failure
		}
		s.series.Reset()
	}
	for _, byName := range metrics {
		for _, key := range slices.Sorted(maps.Keys(byName)) {
			var labels series.Labels
			for name, value := range model.Labels(key).All() {
				labels.Set(name, value)
			}
			for at, value := range byName[key].measures() {
				_ = s.series.Add(labels, at, value) // it acquires no memory
				if s.series.Full() {
					store()
				}
			}
		}
	}
	if s.series.Measures() > 0 {
		store()
	}
	return err
}
