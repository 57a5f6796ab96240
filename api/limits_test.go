package api_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
)

// limited returns a server with two metrics, of resource r and with measures; limits hold from then on.
func limited(t *testing.T, limits web.Limits) (*server, []string) {
	s := newServer(t, nil)
	s.policy(t, "p")
	s.create(t, "/v1/resource/generic",
		`{"id":"r","project_id":"p","metrics":{"a":{"archive_policy_name":"p"},"b":{"archive_policy_name":"p"}}}`)
	for i := range 20 {
		s.want(t, "PATCH /v1/resource/generic/r", fmt.Sprintf(`{"user_id":"u%d"}`, i), 200, "~")
	}
	var ids []string
	for _, name := range []string{"a", "b"} {
		path := "/v1/resource/generic/r/metric/" + name
		s.want(t, "POST "+path+"/measures",
			`[{"timestamp":1,"value":1},{"timestamp":2,"value":3},{"timestamp":3,"value":5}]`, 202, "")
		w := s.want(t, "GET "+path+"/measures?refresh=true", "", 200, "~[[")
		id, _, _ := strings.Cut(strings.SplitN(s.want(t, "GET "+path, "", 200, "~id").Body.String(), `"id": "`, 2)[1],
			`"`)
		ids = append(ids, id)
		if w.Body.Len() < 100 {
			t.Fatal(w.Body)
		}
	}
	s.options.Limits = limits
	s.options.Limits.EnsureDefaults()
	registry := prometheus.NewRegistry()
	s.options.Registerer, s.options.Gatherer = registry, registry
	var err error
	s.handler, err = api.New(s.options)
	check(t, err)
	return s, ids
}

// queries are the requests that read, but for lists: METHOD path, and a body.
func queries(ids []string) [][2]string {
	return [][2]string{
		{"GET /v1/metric/" + ids[0] + "/measures", ""},
		{"GET /v1/metric/" + ids[0] + "/measures?granularity=1&resample=2", ""},
		{"GET /v1/resource/generic/r/metric/a/measures", ""},
		{"POST /v1/aggregates", operate("(metric (A mean) (B mean))", ids)},
		{"POST /v1/aggregates", operate("(rolling mean 2 (metric A mean))", ids)},
		{"POST /v1/aggregates?exact=true", operate("(aggregate mean (metric (A mean) (B mean)))", ids)},
		{"POST /v1/aggregates?groupby=project_id",
			`{"resource_type":"generic","search":{},"operations":"(metric a mean)"}`},
		{"POST /v1/aggregates?groupby=project_id&use_history=true",
			`{"resource_type":"generic","search":{},"operations":"(aggregate mean (metric a mean))"}`},
		{"POST /v1/aggregation/metric", `["` + ids[0] + `","` + ids[1] + `"]`},
		{"GET /v1/aggregation/metric?metric=" + ids[0], ""},
		{"POST /v1/aggregation/resource/generic/metric/a", "{}"},
		{"POST /v1/search/metric?metric_id=" + ids[0], `{">": 0}`},
	}
}

// Every read ends with --query-timeout, and says so.
func TestQueryTimeout(t *testing.T) {
	s, ids := limited(t, web.Limits{QueryTimeout: time.Nanosecond})
	for _, q := range append(queries(ids),
		[2]string{"POST /v1/correlations", `{"metrics":["` + ids[0] + `","` + ids[1] + `"]}`},
		[2]string{"POST /v1/search/resource/generic", `{"=":{"project_id":"p"}}`},
		[2]string{"DELETE /v1/resource/generic", `{"=":{"project_id":"p"}}`},
		[2]string{"GET /v1/resource/generic", ""}, [2]string{"GET /v1/resource/generic?history=true", ""},
		[2]string{"GET /v1/resource/generic/r/history", ""},
		[2]string{"POST /v1/changes", `{"start":0,"stop":100}`},
	) {
		w := s.call(t, q[0], q[1], "Accept", wantsJSON)
		if w.Code != 504 || !strings.Contains(w.Body.String(),
			`{"cause": "The query took too long", "reason": "Ask for fewer metrics`) {
			t.Errorf("%s: %d %s", q[0], w.Code, w.Body)
		}
	}
	s.want(t, "POST /v1/metric/"+ids[0]+"/measures", `[{"timestamp":4,"value":1}]`, 202, "")
	s.want(t, "GET /v1/resource/generic/r", "", 200, "~original_resource_id")
}

// A search is cut off while it compares, not between: this one would take minutes.
func TestSearchObservesTimeout(t *testing.T) {
	s := newServer(t, func(o *api.Options) {
		o.Limits = web.Limits{QueryTimeout: 50 * time.Millisecond, SearchTerms: 20_000}
	})
	var resources []string
	for i := range 500 {
		resources = append(resources, fmt.Sprintf(`"r%d":{"user_id":"%s"}`, i, strings.Repeat("a", 250)))
	}
	for i := range resources {
		id, attributes, _ := strings.Cut(resources[i], ":")
		s.create(t, "/v1/resource/generic", `{"id":`+id+","+attributes[1:])
	}
	like := `{"like":{"user_id":"` + strings.Repeat("%a_", 60) + `%_b%"}}`
	body := `{"or":[` + strings.Repeat(like+",", 3_999) + like + `]}`
	if w := s.call(t, "POST /v1/search/resource/generic", body, "Accept", wantsJSON); w.Code != 504 {
		t.Errorf("%d %.300s", w.Code, w.Body)
	}
}

// An answer to any request has so many rows at most.
func TestRowLimit(t *testing.T) {
	enough, ids := limited(t, web.Limits{Rows: 6})
	s, few := limited(t, web.Limits{Rows: 1})
	for i, q := range queries(ids) {
		enough.want(t, q[0], q[1], 200, "~1970")
		q = queries(few)[i]
		s.want(t, q[0], q[1], 400,
			`~{"cause": "Too many rows", "reason": "Ask for it in parts, by start and stop, or for fewer metrics or a coarser granularity", "detail": 1}`, "Accept", wantsJSON)
	}
	s.want(t, "GET /v1/metric/"+few[0]+"/measures?start=3", "", 200, "~5.0]]")
}

// A search has so many terms at most; the values of one "in" are one.
func TestTermLimit(t *testing.T) {
	s, ids := limited(t, web.Limits{SearchTerms: 3})
	terms := func(n int, one string) string { return `{"or":[` + one + strings.Repeat(","+one, n-1) + `]}` }
	f := func(request, one string, wrap string) {
		t.Helper()
		s.want(t, request, fmt.Sprintf(wrap, terms(3, one)), 200, "~")
		s.want(t, request, fmt.Sprintf(wrap, terms(4, one)), 400,
			`~{"cause": "Too many terms", "reason": "The number of comparisons is 4: search in parts, `,
			"Accept", wantsJSON)
	}
	resource := `{"not":{"like":{"project_id":"p%"}}}`
	f("POST /v1/search/resource/generic", `{"like":{"project_id":"p%"}}`, "%s")
	f("POST /v1/aggregates", `{"like":{"project_id":"p%"}}`,
		`{"resource_type":"generic","operations":"(metric a mean)","search":%s}`)
	f("POST /v1/aggregation/resource/generic/metric/a", resource, "%s")
	f("DELETE /v1/resource/generic", `{"like":{"project_id":"x%"}}`, "%s")
	f("POST /v1/search/metric?metric_id="+ids[0], `{">":0}`, "%s")
	s.want(t, "POST /v1/search/metric?metric_id="+ids[0], `{">":[{"+":[{"*":2},{"*":3}]},0]}`, 400,
		"~The number of comparisons is 4", "Accept", wantsJSON)
	s.want(t, "POST /v1/search/resource/generic", `{"in":{"project_id":["p","q","r","s","t"]}}`, 200,
		"~original_resource_id")
}

// gate lets the prefetches of queries across metrics through one by one.
type gate struct {
	query.Archives
	in, out chan struct{}
}

func (g *gate) Prefetch(ctx context.Context, reads []model.Read,
	staleness *query.Staleness) (query.GroupReader, error) {
	g.in <- struct{}{}
	select {
	case <-g.out:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return g.Archives.Prefetch(ctx, reads, staleness)
}

func (g *gate) Groups(ctx context.Context, read model.Read, staleness *query.Staleness, dst *carbonara.Groups) error {
	return g.Archives.Groups(ctx, read, staleness, dst)
}

// Queries beyond --max-queries wait for their turn, those beyond --max-queued-queries are told to come again, and small
// requests pass all of them.
func TestQueriesQueue(t *testing.T) {
	s, ids := limited(t, web.Limits{})
	g := &gate{s.options.Archives, make(chan struct{}, 10), make(chan struct{})}
	s.options.Archives = g
	s.options.Limits = web.Limits{Queries: 1, QueuedQueries: 2}
	var err error
	s.handler, err = api.New(s.options)
	check(t, err)
	await := func(figure string) {
		t.Helper()
		for deadline := time.Now().Add(2 * time.Minute); !strings.Contains(s.call(t, "GET /metrics", "").Body.String(),
			figure+"\n"); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("never %s", figure)
			}
		}
	}
	body := operate("(aggregate mean (metric (A mean) (B mean)))", ids)
	answers := make(chan *httptest.ResponseRecorder, 3)
	var all sync.WaitGroup
	ask := func() { all.Go(func() { answers <- s.call(t, "POST /v1/aggregates", body) }) }
	ask()
	<-g.in
	ask()
	ask()
	await("gnocco_queries_queued 2")
	w := s.want(t, "POST /v1/aggregates", body, 503, "~Too many queries are being evaluated")
	if w.Header().Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	s.want(t, "POST /v1/search/resource/generic", `{}`, 503, "~Too many queries")
	s.want(t, "GET /v1/metric/"+ids[0]+"/measures", "", 200, "~[[")
	s.want(t, "GET /v1/resource/generic", "", 200, "~[{")
	s.want(t, "POST /v1/metric/"+ids[0]+"/measures", `[{"timestamp":4,"value":1}]`, 202, "")
	s.want(t, "GET /metrics", "", 200, "~gnocco_queries_running 1\n")
	for range 3 {
		g.out <- struct{}{}
	}
	all.Wait()
	for range 3 {
		if w := <-answers; w.Code != 200 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	await("gnocco_queries_running 0")
	s.want(t, "GET /metrics", "", 200, `~gnocco_queries_refused_total{reason="queue"} 2`)
	s.want(t, "GET /metrics", "", 200, "~gnocco_queries_queued 0\n")
}
