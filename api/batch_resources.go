package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"gnocco/api/measures"
	"gnocco/carbonara"
	"gnocco/model"
)

// postResourcesBatch accepts measures of metrics that are named by resource and name: of all, or of none. With
// create_metrics those that are not there yet are created.
func (a *api) postResourcesBatch(w http.ResponseWriter, r *http.Request, who *Identity) error {
	create, err := parseBool(r.URL.Query(), "create_metrics", false)
	if err != nil {
		return err
	}
	return a.accept(w, r, func(s *incomingScratch, now carbonara.Timestamp) error {
		if err := s.decoder.DecodeResources(s.body, now, &s.named); err != nil {
			return err
		}
		if create && slices.ContainsFunc(s.named.Names, hasReplacement) && hasLoneSurrogate(s.body) {
			return undecodable(loneSurrogate)
		}
		s.measures, s.named.Measures = s.named.Measures, s.measures
		resources, err := batchResources(s.named.Names, who)
		if err != nil {
			return err
		}
		return a.resolveBatch(r.Context(), who, s.named.Names, resources, create, s.measures.Metrics)
	})
}

// hasReplacement tells whether U+FFFD stands in what would be stored: sent so, or by the decoder for what is no character.
func hasReplacement(name measures.ResourceMetric) bool {
	return strings.ContainsRune(name.Name, utf8.RuneError) || strings.ContainsRune(name.Unit, utf8.RuneError)
}

// batchResources returns the resource of each name.
func batchResources(names []measures.ResourceMetric, who *Identity) ([]uuid.UUID, error) {
	resources := make([]uuid.UUID, len(names))
	for i, name := range names {
		if i > 0 && names[i-1].Resource == name.Resource {
			resources[i] = resources[i-1]
			continue
		}
		var err error
		if resources[i], err = model.ResourceID(name.Resource, who.User); err != nil {
			return nil, input{path: []any{name.Resource}}.fault("%s", err)
		}
	}
	return resources, nil
}

// resolveBatch sets metrics to the IDs of those that are named, which the user may write to.
func (a *api) resolveBatch(ctx context.Context, who *Identity, names []measures.ResourceMetric, resources []uuid.UUID, create bool,
	metrics []uuid.UUID) error {
	const attempts = 3 // another request may create the same metrics at the same time
	for attempt := 1; ; attempt++ {
		missing, err := a.findBatchMetrics(who, names, resources, metrics)
		if err != nil {
			return err
		}
		if len(missing) == 0 {
			return nil
		}
		if !create {
			return unknownMetrics(names, resources, missing)
		}
		err = a.createBatchMetrics(ctx, who, names, resources, missing)
		if errors.Is(err, model.ErrExists) && attempt < attempts {
			continue
		}
		if err != nil {
			return err
		}
	}
}

// findBatchMetrics looks the metrics up, and returns the indexes of those that are not there.
func (a *api) findBatchMetrics(who *Identity, names []measures.ResourceMetric, resources []uuid.UUID, metrics []uuid.UUID) ([]int, error) {
	var missing []int
	forbidden, may := false, a.permits(who, "post measures")
	for i, name := range names {
		metric, err := a.Index.MetricOfResource(resources[i], name.Name)
		switch {
		case errors.Is(err, model.ErrNotFound):
			missing = append(missing, i)
		case err != nil:
			return nil, err
		default:
			metrics[i] = metric.ID
			forbidden = forbidden || !may(metric)
		}
	}
	if forbidden {
		return nil, errForbidden
	}
	return missing, nil
}

func unknownMetrics(names []measures.ResourceMetric, resources []uuid.UUID, missing []int) error {
	var unknown []string
	for _, i := range missing {
		unknown = append(unknown, resources[i].String()+"/"+names[i].Name)
	}
	slices.Sort(unknown)
	return badRequest("Unknown metrics: %s", strings.Join(slices.Compact(unknown), ", "))
}

// unknownResource is part of the answer to metrics that cannot be created.
type unknownResource struct {
	ID         uuid.UUID `json:"resource_id"`
	OriginalID string    `json:"original_resource_id"`
}

// createBatchMetrics creates the metrics that are missing, all or none, in resources that the user may change.
func (a *api) createBatchMetrics(ctx context.Context, who *Identity, names []measures.ResourceMetric, resources []uuid.UUID, missing []int) error {
	var metrics []*model.Metric
	var unknown []unknownResource
	isUnknown := map[uuid.UUID]bool{}
	creators := map[uuid.UUID]string{}
	seen := map[measures.ResourceMetric]bool{}
	for _, i := range missing {
		name, id := names[i], resources[i]
		if isUnknown[id] {
			continue
		}
		creator, ok := creators[id]
		if !ok {
			resource, err := a.Index.Resource(model.GenericType, id)
			if errors.Is(err, model.ErrNotFound) {
				isUnknown[id] = true
				unknown = append(unknown, unknownResource{id, name.Resource})
				continue
			}
			if err != nil {
				return err
			}
			if err := a.enforce(who, "update resource", resourceTarget(resource)); err != nil {
				return err
			}
			creator = resource.Creator
			creators[id] = creator
		}
		key := measures.ResourceMetric{Resource: id.String(), Name: name.Name}
		if seen[key] { // by another text for the same resource
			continue
		}
		seen[key] = true
		metric, err := a.batchMetric(name, id, creator)
		if err != nil {
			return err
		}
		metrics = append(metrics, metric)
	}
	if unknown != nil {
		return &Error{Status: http.StatusBadRequest, Detail: Cause{Cause: "Unknown resources", Detail: unknown}}
	}
	return a.Index.CreateMetrics(ctx, metrics)
}

// batchMetric defines a metric that a batch creates.
func (a *api) batchMetric(name measures.ResourceMetric, resource uuid.UUID, creator string) (*model.Metric, error) {
	if strings.Contains(name.Name, "/") {
		return nil, badRequest("'/' is not supported in metric name")
	}
	metric := &model.Metric{ID: model.NewMetricID(), Name: name.Name, Unit: name.Unit, Creator: creator, ResourceID: &resource}
	var err error
	if metric.ArchivePolicy, err = a.policyFor(name.ArchivePolicyName, name.Name); err != nil {
		return nil, err
	}
	if err := metric.Validate(); err != nil {
		return nil, err
	}
	return metric, nil
}
