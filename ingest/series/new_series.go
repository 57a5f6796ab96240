package series

import (
	"sync"
	"time"

	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/model"
)

// rights are those of a sender of series, who may begin so many new ones a minute.
type rights struct {
	ingest.Rights
	project string
	writer  *Writer
}

// CreateSeries is of ingest.Rights.
func (r *rights) CreateSeries(metrics []*model.Metric) error {
	r.writer.tellReplicas(metrics)
	if err := r.Rights.CreateSeries(metrics); err != nil || len(metrics) == 0 {
		return err
	}
	if most := r.writer.NewSeries; !r.writer.newSeries.admit(r.project, len(metrics), most, r.writer.Ingester.Now()) {
		return &NewSeriesError{most, model.Widest(metrics)}
	}
	return nil
}

// newSeries counts the series that projects begin in a minute. A label that is new in each measure would fill disk and
// memory with series of one measure each.
type newSeries struct {
	mu       sync.Mutex
	minute   int64
	projects map[string]int
}

// admit reports whether a project may begin n more series.
func (s *newSeries) admit(project string, n, most int, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if minute := now.Unix() / 60; minute != s.minute || s.projects == nil {
		s.minute, s.projects = minute, map[string]int{}
	}
	if s.projects[project]+n > most {
		return false
	}
	s.projects[project] += n
	return true
}
