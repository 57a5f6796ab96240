package metrics

import (
	"context"
	"maps"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/commits"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
)

// BoundSeries sets the function that says how many live metrics a project may have, 0 for any number. It is called
// under the log's lock.
func (s *Table) BoundSeries(bound func(project string) int64) { s.bound.Store(&bound) }

// checkQuotas returns a *model.QuotaError if a project would have more metrics than it may, with those that c creates.
func (s *Table) checkQuotas(c *commits.Change, created []*model.Metric) error {
	bound := s.bound.Load()
	if bound == nil {
		return nil
	}
	last := ""
	for _, m := range created {
		project := model.ProjectOf(m.Creator)
		if project == last {
			continue
		}
		last = project
		most := (*bound)(project)
		if most == 0 {
			continue
		}
		if err := s.countProjects(); err != nil {
			return err
		}
		if s.log.Projects[project]+c.Projects[project] > most {
			return &model.QuotaError{Project: project, Of: "series", Most: most, Grew: model.Widest(created)}
		}
	}
	return nil
}

// SeriesOfProjects returns how many live metrics each project has.
func (s *Table) SeriesOfProjects() (counts map[string]int64, err error) {
	s.log.Locked(func() {
		err = s.countProjects()
		counts = maps.Clone(s.log.Projects)
	})
	return counts, err
}

// countProjects counts the metrics of projects, if they are not counted yet. From then on each
// change adds to the counts. The caller holds the log's lock.
func (s *Table) countProjects() error {
	if s.log.Projects != nil {
		return nil
	}
	prefix := []byte{keyspace.MetricField, keyspace.FieldCreator}
	counts, creator, project := make(map[string]int64), "", ""
	err := s.log.Scan(context.Background(), prefix, nil, func(key, _ []byte) (bool, error) {
		id, ok := keyspace.LastID(key)
		if !ok {
			return true, nil
		}
		if written := string(key[:len(key)-len(id)]); written != creator { // the key has it in another form
			m, err := s.Read(id)
			if err != nil {
				return false, err
			}
			creator, project = written, model.ProjectOf(m.Creator)
		}
		counts[project]++
		return true, nil
	})
	if err == nil {
		s.log.Projects = counts
	}
	return err
}
