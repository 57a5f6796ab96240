package api

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/text"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/model/filter"
	"github.com/gnocco-db/gnocco/query"
	"github.com/gnocco-db/gnocco/query/aggregates"
)

// aggregatesSearch is an operation on the metrics of the resources that a search finds.
type aggregatesSearch struct {
	who        *auth.Identity
	read       *query.Read
	operation  *aggregates.Operation
	groupBy    []string // attributes, ascending; none: all resources together
	details    bool
	useHistory bool
}

// resourceGroup is resources that are aggregated together.
type resourceGroup struct {
	resources []*model.Resource // at least one, with their metrics
	shown     []byte            // what they have in common, in JSON
}

// aggregateResources answers for the resources that the body searches.
func (a *api) aggregateResources(w http.ResponseWriter, r *http.Request, search *aggregatesSearch,
	fields map[string]web.Node) error {
	name, err := fields["resource_type"].Text(0)
	if err != nil {
		return err
	}
	kind, err := a.Index.ResourceType(name)
	if err != nil {
		return web.RefusedCause(err)
	}
	expr, err := fields["search"].SearchFilter()
	if err != nil {
		return err
	}
	if search.symmetric() {
		return a.aggregateSymmetric(w, r, search, kind, expr)
	}
	history := search.useHistory && len(search.groupBy) > 0
	resources, order, err := a.FindSorted(r.Context(), search.who, kind, expr, history, search.groupBy, search.names())
	if err != nil {
		return err
	}
	out := newRowWriter(w, r, seriesColumns...)
	switch {
	case history:
		err = a.aggregateHistory(r.Context(), search, groupResources(resources, name, order, search.groupBy), name,
			out)
	case len(search.groupBy) > 0:
		err = a.aggregateGroups(r.Context(), search, groupResources(resources, name, order, search.groupBy), name, out)
	default:
		var found []query.Operand
		if found, err = a.findNamed(search.operation, resources); err == nil {
			err = a.aggregateOperands(r.Context(), search, found, name, out)
		}
	}
	if errors.Is(err, errNoSuchMetric) {
		return noSuchMetric(search.operation)
	}
	if err != nil {
		return err
	}
	return out.Finish()
}

// names returns those of the resources' metrics that the answer needs; nil: all.
func (s *aggregatesSearch) names() []string {
	if s.details {
		return nil
	}
	names := make([]string, len(s.operation.References))
	for i, reference := range s.operation.References {
		if names[i] = reference.Name; isPattern(reference.Name) {
			return nil
		}
	}
	return names
}

// isPattern reports whether model.MatchPattern matches other names than this one.
func isPattern(name string) bool { return strings.ContainsAny(name, "*?[") }

// groupResources splits resources, which are sorted by these attributes, where one of them changes.
func groupResources(resources []*model.Resource, kind string, order *filter.Order,
	attributes []string) []resourceGroup {
	var groups []resourceGroup
	for i, r := range resources {
		last := len(groups) - 1
		if last >= 0 && order.SameTexts(resources[i-1], r) {
			groups[last].resources = append(groups[last].resources, r)
			continue
		}
		shown := text.AppendJSON(nil, resourceJSON{Resource: asType(r, kind), only: attributes})
		if last >= 0 && bytes.Equal(groups[last].shown, shown) {
			groups[last].resources = append(groups[last].resources, r)
			continue
		}
		groups = append(groups, resourceGroup{[]*model.Resource{r}, shown})
	}
	return groups
}

// errNoSuchMetric says that none of a group's resources has a metric of the names asked for.
var errNoSuchMetric = errors.New("api: no metric of that name")

func noSuchMetric(operation *aggregates.Operation) *web.Error {
	names := map[string]bool{}
	for _, reference := range operation.References {
		names["'"+reference.Name+"'"] = true
	}
	return web.NotFound("Metric [%s] does not exist", strings.Join(slices.Sorted(maps.Keys(names)), ", "))
}

// findNamed looks up the metrics of resources whose names match the operation's patterns.
func (a *api) findNamed(operation *aggregates.Operation, resources []*model.Resource) ([]query.Operand, error) {
	found := make([]query.Operand, 0, len(resources))
	patterns := make([]bool, len(operation.References))
	for i, reference := range operation.References {
		patterns[i] = isPattern(reference.Name)
	}
	take := func(r *model.Resource, i int, id uuid.UUID) {
		metric := a.Index.Lookup(id)
		if metric == nil {
			return // deleted meanwhile
		}
		reference := &operation.References[i]
		found = append(found, query.Operand{Metric: metric, Reference: i, Aggregation: reference.Aggregation,
			Resource: r, Pattern: reference.Name})
	}
	for _, r := range resources {
		var names []string // sorted, once a pattern asks
		for i, reference := range operation.References {
			if !patterns[i] {
				if id, ok := r.Metrics[reference.Name]; ok {
					take(r, i, id)
				}
				continue
			}
			if names == nil {
				names = slices.Sorted(maps.Keys(r.Metrics))
			}
			for _, name := range names {
				if model.MatchPattern(reference.Name, name) {
					take(r, i, r.Metrics[name])
				}
			}
		}
	}
	if len(found) == 0 {
		return nil, errNoSuchMetric
	}
	return found, nil
}

// aggregateOperands evaluates the operation on metrics that were found, and writes the answer.
func (a *api) aggregateOperands(ctx context.Context, search *aggregatesSearch, found []query.Operand, kind string,
	out *rowWriter) error {
	results, err := a.reader.Evaluate(ctx, search.operation, found, search.read)
	if err != nil {
		return err
	}
	search.write(out, found, results, kind)
	return nil
}

// write writes the results of metrics that were found.
func (s *aggregatesSearch) write(out *rowWriter, found []query.Operand, results []*aggregates.Result, kind string) {
	out.warnOfSketches(s.read.OfSketches)
	out.Raw(`{"measures": `)
	out.results(found, results)
	if s.details {
		out.Raw(`, "references": `)
		out.JSON(references(found, kind))
	}
	out.Raw("}")
}

// references shows the resources whose metrics were read, each once.
func references(found []query.Operand, kind string) []resourceJSON {
	shown := []resourceJSON{}
	for i := range found {
		if i == 0 || found[i].Resource != found[i-1].Resource {
			shown = append(shown, showResource(asType(found[i].Resource, kind)))
		}
	}
	return shown
}

// aggregateGroups writes an answer for each group; groups without such a metric are left out.
func (a *api) aggregateGroups(ctx context.Context, search *aggregatesSearch, groups []resourceGroup, kind string,
	out *rowWriter) error {
	var found [][]query.Operand
	var shown [][]byte
	for _, group := range groups {
		operands, err := a.findNamed(search.operation, group.resources)
		if errors.Is(err, errNoSuchMetric) {
			continue
		}
		if err != nil {
			return err
		}
		found, shown = append(found, operands), append(shown, group.shown)
	}
	if len(found) == 0 {
		return errNoSuchMetric
	}
	results, err := a.reader.EvaluateGroups(ctx, search.operation, found, search.read)
	if err != nil {
		return err
	}
	writes := make([]func(*rowWriter), len(found))
	for i := range found {
		writes[i] = func(out *rowWriter) {
			out.startGroup(shown[i])
			search.write(out, found[i], results[i], kind)
			out.Raw("}")
		}
	}
	out.list(writes)
	return nil
}

// list writes a list of the values that each of writes writes.
func (o *rowWriter) list(writes []func(*rowWriter)) {
	o.Raw("[")
	for i, write := range writes {
		if i > 0 {
			o.Raw(", ")
		}
		write(o)
	}
	o.Raw("]")
}

// parseGroupBy reads the attributes to group by, once each. An empty parameter is none, as in Gnocchi.
func parseGroupBy(values url.Values) []string {
	given := values["groupby"]
	if len(given) == 1 && given[0] == "" {
		return nil
	}
	return slices.Compact(slices.Sorted(slices.Values(given)))
}

// postResourceAggregation is the aggregation API for the metrics of one name of the resources that a filter finds.
func (a *api) postResourceAggregation(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	kind, err := a.Index.ResourceType(web.Param(r, "type"))
	if err != nil {
		return err
	}
	expr, err := a.RequestFilter(w, r)
	if err != nil {
		return err
	}
	return a.Evaluate(w, r, who, func(w http.ResponseWriter) error {
		return a.aggregateNamed(w, r, who, kind, expr)
	})
}

// aggregateNamed answers for the metrics of the path's name of the resources that a filter finds.
func (a *api) aggregateNamed(w http.ResponseWriter, r *http.Request, who *auth.Identity, kind *model.ResourceType,
	expr *filter.Expr) error {
	groupBy := parseGroupBy(r.URL.Query())
	name := web.Param(r, "name")
	resources, order, err := a.FindSorted(r.Context(), who, kind, expr, false, groupBy, []string{name})
	if err != nil {
		if len(groupBy) > 0 && isPagination(err) {
			return web.BadRequest("Invalid groupby attribute")
		}
		return err
	}
	read, err := a.parseAggregation(r)
	if err != nil {
		return err
	}
	defer read.Values.Release()
	out := newRowWriter(w, r)
	if len(groupBy) == 0 {
		write, err := a.aggregate(r.Context(), who, a.metricsNamed(name, resources), read)
		if err != nil {
			return err
		}
		write(out)
		return out.Finish()
	}
	var writes []func(*rowWriter)
	for _, group := range groupResources(resources, kind.Name, order, groupBy) {
		write, err := a.aggregate(r.Context(), who, a.metricsNamed(name, group.resources), read)
		if err != nil {
			return err
		}
		writes = append(writes, func(out *rowWriter) {
			out.startGroup(group.shown)
			write(out)
			out.Raw("}")
		})
	}
	out.list(writes)
	return out.Finish()
}

// isPagination reports whether err is about sort keys.
func isPagination(err error) bool {
	var field *model.FieldError
	return errors.As(err, &field) && field.Field == "sort"
}

// metricsNamed returns the metrics of this name of those resources that have one.
func (a *api) metricsNamed(name string, resources []*model.Resource) []*model.Metric {
	var metrics []*model.Metric
	for _, r := range resources {
		if id, ok := r.Metrics[name]; ok {
			if metric := a.Index.Lookup(id); metric != nil {
				metrics = append(metrics, metric)
			}
		}
	}
	return metrics
}
