package ingest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/keyhash"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
)

// creation creates what the rows of one request lack.
type creation struct {
	*Ingester
	user     string
	rights   Rights
	rows     Rows
	protocol *Protocol
	trying   bool // metrics are not created, but there from here on
}

// resourceToCreate is a resource with rows whose metric is unknown. It may exist: then only metrics are created.
type resourceToCreate struct {
	id         uuid.UUID
	name       *Name
	rows       map[string][]*keyRows // by name of the metric
	resource   *model.Resource
	isNew      bool
	newMetrics []*model.Metric
	metrics    map[string]uuid.UUID // by name: those that exist
}

// keyRows are the rows of one key. A request may have millions of them, so what they have in common is looked at once.
type keyRows struct {
	key  string // with its scope
	rows []int
}

// createMissing finds or creates the metrics of the rows b.missing.
func (c *creation) createMissing(ctx context.Context, b *NamedBatch) error {
	if c.protocol.Labels {
		return c.createSeries(ctx, b)
	}
	return c.create(ctx, b)
}

// create finds or creates the metrics of the rows b.missing, and sets them. It checks all before it creates anything.
// Afterwards b.missing are the rows to look up again, as somebody else created or deleted their metric meanwhile.
func (c *creation) create(ctx context.Context, b *NamedBatch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	resources, err := c.group(b.missing)
	if err != nil {
		return err
	}
	prepared := resources[:0]
	for _, r := range resources {
		err := c.prepare(r)
		switch {
		case err == nil:
			prepared = append(prepared, r)
		case errors.As(err, new(*ResourceTypeError)) && c.protocol.Drop != nil:
			for name := range r.rows {
				c.drop(r, name, err)
			}
		default:
			return err
		}
	}
	resources = prepared
	if err := c.prepareType(ctx, resources); err != nil {
		return err
	}
	if err := c.createAll(ctx, resources); err != nil {
		return err
	}
	var missing []int
	for _, r := range resources {
		for name, keys := range r.rows {
			var metric *model.Metric
			if id, ok := r.metrics[name]; ok {
				metric = c.Index.Lookup(id)
			}
			for _, same := range keys {
				if metric == nil {
					missing = append(missing, same.rows...)
					continue
				}
				for _, row := range same.rows {
					b.metrics[row] = metric
				}
				b.found = append(b.found, foundName{keyhash.Of([]byte(same.key)), sender{metric: metric}})
			}
		}
	}
	b.missing = missing
	return nil
}

// drop drops the rows of a metric of r.
func (c *creation) drop(r *resourceToCreate, name string, err error) {
	for _, same := range r.rows[name] {
		for _, row := range same.rows {
			c.protocol.Drop(row, err)
		}
	}
}

// group groups rows by resource and metric, in the order of their first rows.
func (c *creation) group(missing []int) ([]*resourceToCreate, error) {
	var resources []*resourceToCreate
	byID := map[uuid.UUID]*resourceToCreate{}
	byKey := map[string]*keyRows{}
	key := c.protocol.appendScope(nil, c.user)
	scope := len(key)
	for _, row := range missing {
		key = c.rows.AppendKey(key[:scope], row)
		if same := byKey[string(key)]; same != nil {
			same.rows = append(same.rows, row)
			continue
		}
		name, id, err := c.name(row)
		if err != nil && c.protocol.Drop != nil {
			c.protocol.Drop(row, err)
			continue
		}
		if err != nil {
			return nil, err
		}
		r := byID[id]
		if r == nil {
			r = &resourceToCreate{id: id, name: name, rows: map[string][]*keyRows{}}
			byID[id] = r
			resources = append(resources, r)
		}
		same := &keyRows{string(key), []int{row}}
		byKey[same.key] = same
		r.rows[name.Metric] = append(r.rows[name.Metric], same)
	}
	return resources, nil
}

// name returns the metric of a row, and its resource's ID.
func (c *creation) name(row int) (*Name, uuid.UUID, error) {
	name, err := c.rows.Name(row)
	if err != nil {
		return nil, uuid.UUID{}, err
	}
	id, err := model.ResourceID(name.Resource, c.user)
	if err != nil {
		return nil, uuid.UUID{}, &ResourceIDError{err.Error()}
	}
	return name, id, nil
}

// prepare finds out what of r exists, and prepares the rest.
func (c *creation) prepare(r *resourceToCreate) error {
	resource, err := c.Index.Resource(model.GenericType, r.id)
	switch {
	case errors.Is(err, model.ErrNotFound):
		now := carbonara.FromTime(c.Now())
		resource = &model.Resource{ID: r.id, OriginalID: r.name.Resource,
			Type: c.protocol.ResourceType, Creator: c.user, StartedAt: now, RevisionStart: now}
		r.isNew = true
	case err != nil:
		return err
	case resource.Type != c.protocol.ResourceType && !c.protocol.AnyType:
		return &ResourceTypeError{r.id}
	default:
		if err := c.rights.UpdateResource(resource); err != nil {
			return err
		}
	}
	r.resource, r.metrics = resource, resource.Metrics
	for _, name := range slices.Sorted(maps.Keys(r.rows)) {
		if _, ok := resource.Metrics[name]; ok {
			continue
		}
		metric, err := c.newMetric(name, resource)
		switch {
		case err == nil:
			r.newMetrics = append(r.newMetrics, metric)
		case c.protocol.Drop == nil:
			return err
		default:
			c.drop(r, name, err)
			delete(r.rows, name)
		}
	}
	return nil
}

// newMetric prepares a metric of a resource.
func (c *creation) newMetric(name string, resource *model.Resource) (*model.Metric, error) {
	metric := &model.Metric{Name: name, Creator: resource.Creator, ResourceID: &resource.ID}
	if c.protocol.OwnMetrics {
		metric.Creator = c.user
	}
	var err error
	if c.protocol.ArchivePolicy != "" {
		metric.ArchivePolicy, err = c.Index.ArchivePolicy(c.protocol.ArchivePolicy)
	} else {
		metric.ArchivePolicy, err = c.Index.MatchArchivePolicyRule(name)
	}
	if err != nil {
		return nil, &NoPolicyError{Metric: name, Err: err}
	}
	if err := metric.Validate(); err != nil {
		return nil, &AttributeError{"name", err.Error()}
	}
	return metric, nil
}

// prepareType makes the resource type have what the new resources need, and gives them its attributes.
func (c *creation) prepareType(ctx context.Context, resources []*resourceToCreate) error {
	resources = slices.DeleteFunc(slices.Clone(resources), func(r *resourceToCreate) bool { return !r.isNew })
	if len(resources) == 0 {
		return nil
	}
	t, err := c.Index.ResourceType(c.protocol.ResourceType)
	if errors.Is(err, model.ErrNotFound) && c.protocol.Attributes != nil {
		t, err = c.createType(ctx)
	}
	if err != nil {
		return err
	}
	for _, r := range resources {
		for name, value := range r.name.Attributes {
			attribute := t.Attribute(name)
			if attribute == nil { // somebody made the type different: the resource's ID also has the names
				continue
			}
			n := utf8.RuneCountInString(value)
			if attribute.Kind != model.KindString || n < attribute.MinLength || n > attribute.MaxLength {
				return &AttributeError{name, fmt.Sprintf("not what resource type %s has for %s", t.Name, name)}
			}
			r.resource.Attributes.Set(name, value)
		}
		if err := c.rights.CreateResource(r.resource); err != nil {
			return err
		}
	}
	return nil
}

// createType creates the protocol's resource type.
func (c *creation) createType(ctx context.Context) (*model.ResourceType, error) {
	if err := c.rights.CreateResourceType(c.protocol.ResourceType); err != nil {
		return nil, err
	}
	t, err := model.NewResourceType(c.protocol.ResourceType, c.protocol.Attributes)
	if err != nil {
		return nil, err
	}
	if err := c.Index.CreateResourceType(ctx, t); err != nil && !errors.Is(err, model.ErrExists) {
		return nil, err
	}
	return c.Index.ResourceType(c.protocol.ResourceType)
}

// createAll creates what was prepared: the new resources with their metrics, all or none, then the metrics of resources
// that exist. Resources and metrics that others have created or deleted meanwhile are left to be looked up again.
func (c *creation) createAll(ctx context.Context, resources []*resourceToCreate) error {
	var newResources []index.NewResource
	var metrics []*model.Metric
	for _, r := range resources {
		if r.isNew {
			newResources = append(newResources, index.NewResource{Resource: r.resource, Metrics: r.newMetrics})
		} else {
			metrics = append(metrics, r.newMetrics...)
		}
	}
	create := func(isNew bool, create func() error) error {
		if err := create(); err != nil {
			return unlessRaced(err)
		}
		for _, r := range resources {
			if r.isNew == isNew {
				r.created()
			}
		}
		return nil
	}
	if err := create(true, func() error { return c.Index.CreateResources(ctx, newResources) }); err != nil {
		return err
	}
	return create(false, func() error { return c.Index.CreateMetrics(ctx, metrics) })
}

// created notes that the new metrics exist.
func (r *resourceToCreate) created() {
	if r.metrics == nil {
		r.metrics = make(map[string]uuid.UUID, len(r.newMetrics))
	}
	for _, metric := range r.newMetrics {
		r.metrics[metric.Name] = metric.ID
	}
}

// unlessRaced returns err, or nil if somebody else was faster to create or to delete.
func unlessRaced(err error) error {
	var object *model.ObjectError
	if errors.Is(err, model.ErrExists) ||
		errors.As(err, &object) && object.Kind == model.ErrNotFound && object.Noun == model.NounResource {
		return nil
	}
	return err
}

// EnsureResource creates a resource of the generic type for the user, unless there is one of its ID.
func (i *Ingester) EnsureResource(ctx context.Context, originalID, user string) error {
	id, err := model.ResourceID(originalID, user)
	if err != nil {
		return &ResourceIDError{err.Error()}
	}
	if _, err := i.Index.Resource(model.GenericType, id); !errors.Is(err, model.ErrNotFound) {
		return err
	}
	now := carbonara.FromTime(i.Now())
	err = i.Index.CreateResource(ctx, &model.Resource{ID: id, OriginalID: originalID,
		Type: model.GenericType, Creator: user, StartedAt: now, RevisionStart: now}, nil)
	if errors.Is(err, model.ErrExists) { // meanwhile
		return nil
	}
	return err
}
