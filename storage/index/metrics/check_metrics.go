package metrics

import (
	"bytes"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/commits"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/storage/index/records"
)

// metricCheck holds the metrics that a change may create to the rules, one after the other.
type metricCheck struct {
	*Table
	change     *commits.Change
	resource   *model.Resource // which the change itself changes; nil: each metric names its own
	resourceID *uuid.UUID      // a copy, because it stays as long as the metrics
	archives   map[string]*model.ArchivePolicy
	named      map[string]bool // keys of names and of labels in this change
	before     []byte          // key of labels
	stored     map[uuid.UUID]storedResource
}

// storedResource holds the facts about a resource that its new metrics need.
type storedResource struct {
	end    *carbonara.Timestamp
	listed map[string]uuid.UUID
}

// checkMetrics checks metrics that c may create, and returns them as they are kept: copies, with the store's own
// archive policies. With a resource, which c itself changes, they become its metrics, of its creator. Its Metrics has
// the names taken there, and gets the new ones.
func (s *Table) checkMetrics(c *commits.Change, metrics []*model.Metric,
	resource *model.Resource) ([]*model.Metric, error) {
	k := metricCheck{Table: s, change: c, resource: resource, archives: s.policies(), named: map[string]bool{},
		stored: map[uuid.UUID]storedResource{}}
	if resource != nil {
		k.resourceID = new(resource.ID)
	}
	created := make([]*model.Metric, 0, len(metrics))
	for i, given := range metrics {
		m, err := k.valid(given)
		if err != nil {
			return nil, err
		}
		shareTexts(m, created)
		if err := k.takeLabels(i, m); err != nil {
			return nil, err
		}
		if err := k.takeName(m); err != nil {
			return nil, err
		}
		c.AddLive(model.ProjectOf(m.Creator), 1)
		created = append(created, m)
	}
	return created, s.checkQuotas(c, created)
}

// valid returns the copy of a metric that is kept. The metric given gets an ID.
func (k *metricCheck) valid(given *model.Metric) (*model.Metric, error) {
	if err := k.newMetricID(k.change, given); err != nil {
		return nil, err
	}
	m := *given
	if k.resource != nil {
		m.ResourceID, m.Creator = k.resourceID, k.resource.Creator
	}
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if m.ArchivePolicy = k.archives[given.ArchivePolicy.Name]; m.ArchivePolicy == nil {
		return nil, model.NotFound(model.NounArchivePolicy, given.ArchivePolicy.Name)
	}
	m.Deleted = false
	return &m, nil
}

// shareTexts makes a metric share its texts with others that have the same.
func shareTexts(m *model.Metric, created []*model.Metric) {
	m.Name, m.Unit = records.Shared(m.Name), records.Shared(m.Unit)
	if last := len(created) - 1; last >= 0 && created[last].Creator == m.Creator { // as mostly
		m.Creator = created[last].Creator
	} else {
		m.Creator = records.Shared(m.Creator)
	}
}

// takeLabels takes the labels of the i-th metric, if it has any: no other metric of its creator has them.
func (k *metricCheck) takeLabels(i int, m *model.Metric) error {
	if m.Labels == "" {
		return nil
	}
	key := labelsKeyOf(k.change, i, m)
	taken := k.known.mayHave(key)
	if taken {
		var err error
		if taken, err = k.change.Has(key); err != nil {
			return err
		}
	}
	if taken || bytes.Equal(key, k.before) || k.named[string(key)] {
		return model.Exists(model.NounNamedMetric, m.Name)
	}
	if k.change.LabelsKeys != nil { // ascending
		k.before = key
	} else {
		k.named[string(key)] = true
	}
	k.known.add(key)
	return nil
}

// takeName takes the name of a metric within its resource, if it has one.
func (k *metricCheck) takeName(m *model.Metric) error {
	if m.ResourceID == nil {
		return nil
	}
	if k.resource == nil {
		return k.takeStoredName(m)
	}
	if _, taken := k.resource.Metrics[m.Name]; taken {
		return model.Exists(model.NounNamedMetric, m.Name)
	}
	k.resource.Metrics[m.Name] = m.ID
	m.ResourceEndedAt = k.resource.EndedAt
	return nil
}

// takeStoredName takes the name of a metric within a resource that the change leaves as it is.
func (k *metricCheck) takeStoredName(m *model.Metric) error {
	id := *m.ResourceID
	m.ResourceID = &id
	of, err := k.storedResource(id)
	if err != nil {
		return err
	}
	if _, taken := of.listed[m.Name]; taken {
		return model.Exists(model.NounNamedMetric, m.Name)
	}
	m.ResourceEndedAt = of.end
	key := keyspace.NamedMetricKey(id, m.Name)
	exists, err := k.change.Has(key)
	if err != nil {
		return err
	}
	if exists || k.named[string(key)] {
		return model.Exists(model.NounNamedMetric, m.Name)
	}
	k.named[string(key)] = true
	return nil
}

// storedResource reads a resource once. Its list of metrics in its value becomes one of keys.
func (k *metricCheck) storedResource(id uuid.UUID) (storedResource, error) {
	of, known := k.stored[id]
	if known {
		return of, nil
	}
	var err error
	if of.end, known, err = k.endOf(id); err != nil {
		return of, err
	}
	if !known {
		return of, model.NotFound(model.NounResource, id.String())
	}
	if of.listed, _, err = k.readListed(id, nil); err != nil {
		return of, err
	}
	if err := k.unlistStored(k.change, id); err != nil {
		return of, err
	}
	k.stored[id] = of
	return of, nil
}
