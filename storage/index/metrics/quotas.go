package metrics

import (
	"errors"
	"maps"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

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
func (s *Table) countProjects() (err error) {
	if s.log.Projects != nil {
		return nil
	}
	prefix := []byte{keyspace.MetricField, keyspace.FieldCreator}
	iter, err := s.log.DB.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: keyspace.PrefixEnd(prefix)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, iter.Close()) }()
	counts, creator, project := make(map[string]int64), "", ""
	for valid := iter.First(); valid; valid = iter.Next() {
		key := iter.Key()
		id, ok := keyspace.LastID(key)
		if !ok {
			continue
		}
		if of := string(key[:len(key)-len(uuid.UUID{})]); of != creator { // the key has it in another form
			m, err := s.Read(id)
			if err != nil {
				return err
			}
			creator, project = of, model.ProjectOf(m.Creator)
		}
		counts[project]++
	}
	if err := iter.Error(); err != nil {
		return err
	}
	s.log.Projects = counts
	return nil
}
