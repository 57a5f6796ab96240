package api

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"unicode/utf8"

	"github.com/google/uuid"

	"gnocco/carbonara"
	"gnocco/model"
	"gnocco/storage/index"
)

// wantedResource is a resource that rows without a known metric name.
type wantedResource struct {
	id         uuid.UUID
	name       *metricName
	rows       map[string][]int // by name of the metric
	resource   *model.Resource
	isNew      bool
	newMetrics []*model.Metric
	metrics    map[string]uuid.UUID // by name: those that are there
}

// createNamed finds or creates the metrics of the rows s.missing, and sets them. All is checked before anything is
// created. Afterwards s.missing is what is still to be found, since somebody else created or deleted it meanwhile.
func (a *api) createNamed(ctx context.Context, who *Identity, rows namedRows, p *protocol, s *namedScratch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	wanted, err := wantedResources(who, rows, s.missing)
	if err != nil {
		return err
	}
	for _, w := range wanted {
		if err := a.prepare(who, p, w); err != nil {
			return err
		}
	}
	if err := a.prepareType(ctx, who, p, wanted); err != nil {
		return err
	}
	if err := a.createWanted(ctx, wanted); err != nil {
		return err
	}
	var missing []int
	for _, w := range wanted {
		for name, its := range w.rows {
			var metric *model.Metric
			if id, ok := w.metrics[name]; ok {
				metric = a.Index.Lookup(id)
			}
			if metric == nil {
				missing = append(missing, its...)
				continue
			}
			for _, row := range its {
				s.metrics[row] = metric
				a.known.add(string(rows.AppendKey(p.appendScope(nil, who), row)), metric)
			}
		}
	}
	s.missing = missing
	return nil
}

// wantedResources groups rows by resource and metric, in the order of their first rows.
func wantedResources(who *Identity, rows namedRows, missing []int) ([]*wantedResource, error) {
	var wanted []*wantedResource
	byID := map[uuid.UUID]*wantedResource{}
	for _, row := range missing {
		name, err := rows.Name(row)
		if err != nil {
			return nil, err
		}
		id, err := model.ResourceID(name.resource, who.User)
		if err != nil {
			return nil, badValue("Value error", "id", err.Error())
		}
		w := byID[id]
		if w == nil {
			w = &wantedResource{id: id, name: name, rows: map[string][]int{}}
			byID[id] = w
			wanted = append(wanted, w)
		}
		w.rows[name.metric] = append(w.rows[name.metric], row)
	}
	return wanted, nil
}

// prepare finds out what of w is there, and prepares what is not.
func (a *api) prepare(who *Identity, p *protocol, w *wantedResource) error {
	resource, err := a.Index.Resource(model.GenericType, w.id)
	switch {
	case errors.Is(err, model.ErrNotFound):
		now := carbonara.FromTime(a.Now())
		resource = &model.Resource{ID: w.id, OriginalID: w.name.resource, Type: p.resourceType, Creator: who.User,
			StartedAt: now, RevisionStart: now}
		w.isNew = true
	case err != nil:
		return err
	case resource.Type != p.resourceType:
		return &Error{Status: http.StatusConflict, Detail: Cause{Cause: "Resource already exists", Detail: w.id.String()}}
	default:
		if err := a.enforce(who, "update resource", resourceTarget(resource)); err != nil {
			return err
		}
	}
	w.resource, w.metrics = resource, resource.Metrics
	for _, name := range slices.Sorted(maps.Keys(w.rows)) {
		if _, ok := resource.Metrics[name]; ok {
			continue
		}
		metric := &model.Metric{ID: model.NewMetricID(), Name: name, Creator: resource.Creator, ResourceID: &w.id}
		if metric.ArchivePolicy, err = a.Index.MatchArchivePolicyRule(name); err != nil {
			return badRequest("No archive policy name specified and no archive policy rule found matching the metric name %s", name)
		}
		if err := metric.Validate(); err != nil {
			return badAttribute("name", err.Error())
		}
		w.newMetrics = append(w.newMetrics, metric)
	}
	return nil
}

// prepareType makes the type that new resources want what they need, and gives them its attributes.
func (a *api) prepareType(ctx context.Context, who *Identity, p *protocol, wanted []*wantedResource) error {
	wanted = slices.DeleteFunc(slices.Clone(wanted), func(w *wantedResource) bool { return !w.isNew })
	if len(wanted) == 0 {
		return nil
	}
	t, err := a.Index.ResourceType(p.resourceType)
	if errors.Is(err, model.ErrNotFound) && p.attributes != nil {
		t, err = a.createType(ctx, who, p)
	}
	if err != nil {
		return err
	}
	if p.anyAttribute {
		if t, err = a.addAttributes(ctx, who, t, wanted); err != nil {
			return err
		}
	}
	for _, w := range wanted {
		for name, value := range w.name.attributes {
			attribute := t.Attribute(name)
			if attribute == nil { // somebody made the type different: the names are in the resource's ID, too
				continue
			}
			n := utf8.RuneCountInString(value)
			if attribute.Kind != model.KindString || n < attribute.MinLength || n > attribute.MaxLength {
				return badAttribute(name, fmt.Sprintf("not what resource type %s has for %s", t.Name, name))
			}
			w.resource.Attributes.Set(name, value)
		}
		if err := a.enforce(who, "create resource", resourceTarget(w.resource)); err != nil {
			return err
		}
	}
	return nil
}

// createType creates the protocol's resource type, which takes the right to.
func (a *api) createType(ctx context.Context, who *Identity, p *protocol) (*model.ResourceType, error) {
	if err := a.enforce(who, "create resource type", nameTarget(p.resourceType)); err != nil {
		return nil, err
	}
	t, err := model.NewResourceType(p.resourceType, p.attributes)
	if err != nil {
		return nil, err
	}
	if err := a.Index.CreateResourceType(ctx, t); err != nil && !errors.Is(err, model.ErrExists) {
		return nil, err
	}
	return a.Index.ResourceType(p.resourceType)
}

// addAttributes adds to t what attributes wanted have and it does not, which takes the right to.
func (a *api) addAttributes(ctx context.Context, who *Identity, t *model.ResourceType, wanted []*wantedResource) (*model.ResourceType, error) {
	missing := map[string]bool{}
	for _, w := range wanted {
		for name := range w.name.attributes {
			if t.Attribute(name) == nil {
				missing[name] = true
			}
		}
	}
	if len(missing) == 0 {
		return t, nil
	}
	if err := a.enforce(who, "update resource type", nameTarget(t.Name)); err != nil {
		return nil, err
	}
	t, err := a.Index.UpdateResourceType(ctx, t.Name, func(old *model.ResourceType) (*model.ResourceType, error) {
		attributes := slices.Clone(old.Attributes)
		for _, name := range slices.Sorted(maps.Keys(missing)) {
			if old.Attribute(name) == nil {
				attributes = append(attributes, &model.Attribute{Name: name, Kind: model.KindString, MaxLength: maxLabelLength})
			}
		}
		return old.Update(attributes)
	})
	var field *model.FieldError
	if errors.As(err, &field) {
		return nil, badAttribute(field.Field, field.Reason)
	}
	return t, err
}

// createWanted creates what was prepared: the new resources with their metrics, all or none, then the metrics of those that
// are there. What somebody else has created or deleted meanwhile is left to be found again.
func (a *api) createWanted(ctx context.Context, wanted []*wantedResource) error {
	var resources []index.NewResource
	var metrics []*model.Metric
	for _, w := range wanted {
		if w.isNew {
			resources = append(resources, index.NewResource{Resource: w.resource, Metrics: w.newMetrics})
		} else {
			metrics = append(metrics, w.newMetrics...)
		}
	}
	create := func(isNew bool, create func() error) error {
		if err := create(); err != nil {
			return unlessRaced(err)
		}
		for _, w := range wanted {
			if w.isNew == isNew {
				w.created()
			}
		}
		return nil
	}
	if err := create(true, func() error { return a.Index.CreateResources(ctx, resources) }); err != nil {
		return err
	}
	return create(false, func() error { return a.Index.CreateMetrics(ctx, metrics) })
}

// created notes that the new metrics are there.
func (w *wantedResource) created() {
	if w.metrics == nil {
		w.metrics = make(map[string]uuid.UUID, len(w.newMetrics))
	}
	for _, metric := range w.newMetrics {
		w.metrics[metric.Name] = metric.ID
	}
}

// unlessRaced is err, unless it says that somebody else was faster to create or to delete.
func unlessRaced(err error) error {
	var object *model.ObjectError
	if errors.Is(err, model.ErrExists) ||
		errors.As(err, &object) && object.Kind == model.ErrNotFound && object.Noun == model.NounResource {
		return nil
	}
	return err
}
