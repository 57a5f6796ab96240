package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/measures"
	"github.com/gnocco-db/gnocco/api/text"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
)

// batchHandlers serve batches of measures whose metrics are named by resource and name.
type batchHandlers struct{ *api }

// post accepts measures of metrics that are named by resource and name: of all, or of none. With create_metrics it
// creates metrics that do not exist.
func (a batchHandlers) post(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	var create bool
	if err := query.ParseBool(r.URL.Query(), "create_metrics", &create); err != nil {
		return err
	}
	return a.accept(w, r, who, func(s *incomingScratch, now carbonara.Timestamp) error {
		if err := s.decoder.DecodeResources(s.body, now, &s.named); err != nil {
			return err
		}
		if create && slices.ContainsFunc(s.named.Names, hasReplacement) && text.HasLoneSurrogate(s.body) {
			return web.Undecodable("an escaped surrogate stands alone")
		}
		s.batch.Measures, s.named.Measures = s.named.Measures, s.batch.Measures
		if err := a.ingester.Future(&s.batch.Measures, now.Time()); err != nil { // before metrics are created
			name := s.named.Names[err.Place]
			err.Metric = name.Resource + "/" + name.Name
			return err
		}
		resources, err := batchResources(s.named.Names, who)
		if err != nil {
			return err
		}
		return a.resolve(r.Context(), who, s.named.Names, resources, create, s.batch.Measures.Metrics)
	})
}

// hasReplacement reports whether what would be stored has U+FFFD: the client sent it, or the decoder put it for a lone
// surrogate.
func hasReplacement(name measures.ResourceMetric) bool {
	return strings.ContainsRune(name.Name, utf8.RuneError) || strings.ContainsRune(name.Unit, utf8.RuneError)
}

// batchResources returns the resource of each name.
func batchResources(names []measures.ResourceMetric, who *auth.Identity) ([]uuid.UUID, error) {
	resources := make([]uuid.UUID, len(names))
	for i, name := range names {
		if i > 0 && names[i-1].Resource == name.Resource {
			resources[i] = resources[i-1]
			continue
		}
		var err error
		if resources[i], err = model.ResourceID(name.Resource, who.User); err != nil {
			return nil, web.Node{Path: []any{name.Resource}}.Fault("%s", err)
		}
	}
	return resources, nil
}

// resolve sets metrics to the IDs of the named metrics, which the user may write to.
//
// It does not use AppendNamed of package ingest, as four rules differ. AppendNamed creates a missing resource; here all
// missing resources are listed in an error. A row here may bring the archive policy and the unit of its metric. The
// right to write to known metrics is checked before anything is created. Without create_metrics nothing is created. A
// switch for each rule, and the translation of its errors, would take more code than it saves.
func (a batchHandlers) resolve(ctx context.Context, who *auth.Identity, names []measures.ResourceMetric,
	resources []uuid.UUID, create bool, metrics []uuid.UUID) error {
	const attempts = 3 // another request may create the same metrics at the same time
	for attempt := 1; ; attempt++ {
		missing, err := a.find(who, names, resources, metrics)
		if err != nil {
			return err
		}
		if len(missing) == 0 {
			return nil
		}
		if !create {
			return unknownMetrics(names, resources, missing)
		}
		err = a.create(ctx, who, names, resources, missing)
		if errors.Is(err, model.ErrExists) && attempt < attempts {
			continue
		}
		if err != nil {
			return err
		}
	}
}

// find looks the metrics up, and returns the indexes of the missing ones.
func (a batchHandlers) find(who *auth.Identity, names []measures.ResourceMetric, resources []uuid.UUID,
	metrics []uuid.UUID) ([]int, error) {
	var missing []int
	forbidden, may := false, a.PermittedMetrics(who, "post measures")
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
		return nil, model.ErrForbidden
	}
	return missing, nil
}

func unknownMetrics(names []measures.ResourceMetric, resources []uuid.UUID, missing []int) error {
	var unknown []string
	for _, i := range missing {
		unknown = append(unknown, resources[i].String()+"/"+names[i].Name)
	}
	slices.Sort(unknown)
	unknown = slices.Compact(unknown)
	return web.BadRequest("Unknown metrics: %s", web.JoinSome(len(unknown), func(i int) string { return unknown[i] }))
}

// unknownResource is part of the answer to metrics that cannot be created.
type unknownResource struct {
	ID         uuid.UUID `json:"resource_id"`
	OriginalID string    `json:"original_resource_id"`
}

// create creates the metrics that are missing, all or none, in resources that the user may change.
func (a batchHandlers) create(ctx context.Context, who *auth.Identity, names []measures.ResourceMetric,
	resources []uuid.UUID, missing []int) error {
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
			if err := a.Enforce(who, "update resource", web.ResourceTarget(resource)); err != nil {
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
		metric, err := a.newMetric(ctx, name, id, creator)
		if err != nil {
			return err
		}
		metrics = append(metrics, metric)
	}
	if unknown != nil {
		return &web.Error{Status: http.StatusBadRequest, Detail: web.Cause{Cause: "Unknown resources", Detail: unknown}}
	}
	return a.Index.CreateMetrics(ctx, metrics)
}

// newMetric defines a metric that a batch creates.
func (a batchHandlers) newMetric(ctx context.Context, name measures.ResourceMetric, resource uuid.UUID,
	creator string) (*model.Metric, error) {
	if strings.Contains(name.Name, "/") {
		return nil, web.BadRequest("'/' is not supported in metric name")
	}
	metric := &model.Metric{Name: name.Name, Unit: name.Unit, Creator: creator, ResourceID: &resource}
	var err error
	if metric.ArchivePolicy, err = a.policyFor(ctx, name.ArchivePolicyName, metric); err != nil {
		return nil, err
	}
	if err := metric.Validate(); err != nil {
		return nil, err
	}
	return metric, nil
}
