package operators

import (
	"cmp"
	"context"
	"net/http"
	"regexp"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/activity"
)

// ActivityOf returns the activity of all processes of the cluster.
func (a *Handlers) ActivityOf(ctx context.Context, request activity.Request) *activity.Report {
	report := a.Activity.Answer(request)
	if a.OtherActivity != nil {
		for _, other := range a.OtherActivity(ctx, request) {
			report.Merge(other)
		}
	}
	return report
}

// runningFor returns the queries that the user may see and end: their own, or by the rule all.
func (a *Handlers) runningFor(ctx context.Context, who *auth.Identity) []activity.Running {
	running := a.ActivityOf(ctx, activity.Request{}).Running
	if a.Enforce(who, "list queries", nil) != nil {
		running = slices.DeleteFunc(running, func(q activity.Running) bool {
			return q.User != who.User || q.Project != who.ProjectID
		})
	}
	return running
}

// listQueries serves GET /v1/queries: those that run.
func (a *Handlers) listQueries(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	return web.WriteJSON(w, http.StatusOK, web.OrEmpty(a.runningFor(r.Context(), who)))
}

// killQuery serves DELETE /v1/queries/{id}.
func (a *Handlers) killQuery(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	id := web.Param(r, "id")
	if !slices.ContainsFunc(a.runningFor(r.Context(), who), func(q activity.Running) bool { return q.ID == id }) {
		return &web.Error{Status: http.StatusNotFound, Detail: "Query " + id + " does not run"}
	}
	a.ActivityOf(r.Context(), activity.Request{Kill: id, By: who.User})
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// costOrders compare costs, the greater first.
var costOrders = map[string]func(a, b activity.Cost) int{
	"seconds": func(a, b activity.Cost) int { return cmp.Compare(b.Seconds, a.Seconds) },
	"count":   func(a, b activity.Cost) int { return cmp.Compare(b.Count, a.Count) },
	"groups":  func(a, b activity.Cost) int { return cmp.Compare(b.Groups, a.Groups) },
	"metrics": func(a, b activity.Cost) int { return cmp.Compare(b.Metrics, a.Metrics) },
}

// listCosts serves GET /v1/queries/costs: the queries that cost most since Since.
func (a *Handlers) listCosts(w http.ResponseWriter, r *http.Request, _ *auth.Identity) error {
	page, err := a.ParsePage(r.URL.Query(), "seconds")
	if err != nil {
		return err
	}
	order := costOrders[page.Sort[0]]
	if order == nil {
		return web.BadArgument("sort", "Must be seconds, count, groups or metrics")
	}
	report := a.ActivityOf(r.Context(), activity.Request{Costs: true})
	slices.SortFunc(report.Costs, order)
	shown := report.Costs[:min(page.Limit, len(report.Costs))]
	for i := range shown {
		shown[i].Query = metricIDs.ReplaceAllStringFunc(shown[i].Query, a.nameOf)
	}
	return web.WriteJSON(w, http.StatusOK, struct {
		Since   time.Time       `json:"since"`
		Queries []activity.Cost `json:"queries"`
	}{report.Since, web.OrEmpty(shown)})
}

var metricIDs = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// nameOf returns the name of a metric, and the resource that has it, for its ID; other IDs as they are.
func (a *Handlers) nameOf(id string) string {
	m, err := a.Index.Metric(uuid.Must(uuid.Parse(id)))
	if err != nil || m.Name == "" {
		return id
	}
	if m.ResourceID != nil {
		if resource, err := a.Index.Resource(model.GenericType, *m.ResourceID); err == nil {
			return m.Name + "@" + resource.OriginalID
		}
	}
	return m.Name
}

// unreadMetric is a metric that no query has read.
type unreadMetric struct {
	ID            uuid.UUID  `json:"id"`
	Name          string     `json:"name"`
	ResourceID    *uuid.UUID `json:"resource_id"`
	Resource      string     `json:"original_resource_id,omitempty"`
	ArchivePolicy string     `json:"archive_policy_name"`
}

// listUnread serves GET /v1/queries/unread: how many metrics no query has read since Since, and some of them.
func (a *Handlers) listUnread(w http.ResponseWriter, r *http.Request, _ *auth.Identity) error {
	page, err := a.ParsePage(r.URL.Query())
	if err != nil {
		return err
	}
	report := a.ActivityOf(r.Context(), activity.Request{Reads: true})
	answer := struct {
		Since   time.Time      `json:"since"`
		Metrics int            `json:"metrics"`
		Unread  int            `json:"unread"`
		List    []unreadMetric `json:"list"`
	}{Since: report.Since, List: []unreadMetric{}}
	err = a.Index.EachMetric(r.Context(), func(m *model.Metric) {
		answer.Metrics++
		if report.Reads.Has(m.ID) {
			return
		}
		if answer.Unread++; len(answer.List) < page.Limit {
			answer.List = append(answer.List, unreadMetric{ID: m.ID, Name: m.Name, ResourceID: m.ResourceID,
				ArchivePolicy: m.ArchivePolicy.Name})
		}
	})
	for i, m := range answer.List {
		if m.ResourceID == nil {
			continue
		}
		if resource, err := a.Index.Resource(model.GenericType, *m.ResourceID); err == nil { // else deleted meanwhile
			answer.List[i].Resource = resource.OriginalID
		}
	}
	return web.Answer(w, answer, err)
}
