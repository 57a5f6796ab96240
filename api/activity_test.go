package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
	"github.com/gnocco-db/gnocco/query/activity"
)

// stuckArchives answer no read before its end.
type stuckArchives struct {
	query.Archives
	reached chan struct{}
}

func (s *stuckArchives) wait(ctx context.Context) error {
	s.reached <- struct{}{}
	<-ctx.Done()
	return ctx.Err()
}

// Groups implements query.Archives.
func (s *stuckArchives) Groups(ctx context.Context, _ model.Read, _ *query.Staleness, _ *carbonara.Groups) error {
	return s.wait(ctx)
}

// EachGroups implements query.Archives.
func (s *stuckArchives) EachGroups(ctx context.Context, _ []model.Read, _ *query.Staleness, _ *carbonara.Groups,
	_ func(int) error) error {
	return s.wait(ctx)
}

// Prefetch implements query.Archives.
func (s *stuckArchives) Prefetch(context.Context, []model.Read, *query.Staleness) (query.GroupReader, error) {
	return s, nil
}

// A query that runs is listed to its user and to admin, and either of them ends it.
func TestRunningQueryIsKilled(t *testing.T) {
	stuck := &stuckArchives{reached: make(chan struct{}, 8)}
	s := newServer(t, func(o *api.Options) {
		stuck.Archives = o.Archives
		o.Archives = stuck
	})
	s.policy(t, "p")
	id := s.create(t, "/v1/metric", `{"archive_policy_name":"p"}`)

	f := func(killer, request, body, route, text, end string) {
		t.Helper()
		answered := make(chan string, 1)
		go func() {
			answer := s.call(t, request, body, "Content-Type", "application/x-www-form-urlencoded")
			answered <- http.StatusText(answer.Code) + " " + answer.Body.String()
		}()
		<-stuck.reached
		var list []activity.Running
		check(t, json.Unmarshal(s.call(t, "GET /v1/queries", "", "user", killer).Body.Bytes(), &list))
		if len(list) != 1 || list[0].Route != route || !strings.Contains(list[0].Query, text) || list[0].User != "foobar" {
			t.Fatalf("running: %+v", list)
		}
		s.want(t, "GET /v1/queries", "", http.StatusOK, "[]", "user", "stranger")
		s.want(t, "DELETE /v1/queries/"+list[0].ID, "", http.StatusNotFound, "~does not run", "user", "stranger")
		s.want(t, "DELETE /v1/queries/"+list[0].ID, "", http.StatusNoContent, "", "user", killer)
		if got := <-answered; !strings.HasPrefix(got, "Service Unavailable") || !strings.Contains(got, end) {
			t.Errorf("answer of a killed query: %s", got)
		}
		s.want(t, "DELETE /v1/queries/"+list[0].ID, "", http.StatusNotFound, "~does not run", "user", killer)
	}
	f("admin", "GET /v1/metric/"+id+"/measures", "", "/v1/metric/{id}/measures", id, "ended by user admin")
	f("foobar", "POST /api/v1/query", "query="+url.QueryEscape(`count({metric_id="`+id+`"})`), "/api/v1/query",
		`count({metric_id="`+id+`"})`, `"errorType":"canceled","error":"The query was ended by user foobar.`)
}

// The costs add up by text, and metrics that no query has read are listed.
func TestCostsAndUnreadMetrics(t *testing.T) {
	var request activity.Request
	s := newServer(t, func(o *api.Options) {
		o.OtherActivity = func(_ context.Context, r activity.Request) []*activity.Report {
			request = r
			return []*activity.Report{{Costs: []activity.Cost{{Route: "/api/v1/query", Query: "elsewhere", Seconds: 1e6}}}}
		}
	})
	s.policy(t, "p")
	read := s.create(t, "/v1/metric", `{"archive_policy_name":"p"}`)
	unread := s.create(t, "/v1/metric", `{"archive_policy_name":"p"}`)
	for range 3 {
		s.call(t, "GET /v1/metric/"+read+"/measures", "")
	}
	s.want(t, "GET /v1/queries/costs", "", http.StatusForbidden, "~")
	admin := []string{"user", "admin"}
	var costs struct {
		Since   string          `json:"since"`
		Queries []activity.Cost `json:"queries"`
	}
	check(t, json.Unmarshal(s.call(t, "GET /v1/queries/costs", "", admin...).Body.Bytes(), &costs))
	if len(costs.Queries) < 2 || costs.Queries[0].Query != "elsewhere" || !request.Costs || costs.Since == "" {
		t.Errorf("costs: %+v", costs)
	}
	check(t, json.Unmarshal(s.call(t, "GET /v1/queries/costs?sort=count&limit=1", "", admin...).Body.Bytes(), &costs))
	if len(costs.Queries) != 1 || costs.Queries[0].Query != "/v1/metric/"+read+"/measures" || costs.Queries[0].Count != 3 ||
		costs.Queries[0].Metrics != 3 {
		t.Errorf("costs: %+v", costs)
	}
	named := s.create(t, "/v1/metric", `{"archive_policy_name":"p","name":"temperature"}`)
	s.call(t, "POST /v1/aggregates", `{"operations":["metric",["`+named+`","mean"]]}`)
	check(t, json.Unmarshal(s.call(t, "GET /v1/queries/costs", "", admin...).Body.Bytes(), &costs))
	if !slices.ContainsFunc(costs.Queries, func(c activity.Cost) bool {
		return c.Query == `{"operations":["metric",["temperature","mean"]]}`
	}) {
		t.Errorf("no query of temperature: %+v", costs)
	}
	s.want(t, "GET /v1/queries/unread", "", http.StatusOK, `~"metrics": 3, "unread": 1, "list": [{"id": "`+unread+`"`, admin...)
}
