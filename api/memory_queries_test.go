package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// largeServers are two servers of the same 60 metrics with 2,400 measures each, one every other minute, of resources
// with the metric m. One has a budget of 3 MiB, half of it for an answer; the other has no budget.
func largeServers(t *testing.T) (small, unbounded *server, shared *budget.Budget, ids []string) {
	t.Helper()
	unbounded = newServer(t, nil)
	unbounded.create(t, "/v1/archive_policy",
		`{"name":"p","definition":[{"granularity":60,"points":10000},{"granularity":3600,"points":10000}],"aggregation_methods":["mean","95pct","count"]}`,
		"user", "admin")
	for i := range 60 {
		path := fmt.Sprintf("/v1/resource/generic/r%d", i)
		unbounded.create(t, "/v1/resource/generic", fmt.Sprintf(
			`{"id":"r%d","project_id":"p%d","metrics":{"m":{"archive_policy_name":"p"}}}`, i, i%3))
		var body strings.Builder
		for j := range 2400 {
			if i%7 == 0 && j/100%3 == 0 { // a gap
				continue
			}
			fmt.Fprintf(&body, `,{"timestamp":%d,"value":%d.%d}`, 1_700_000_000+120*j, (i*j)%101, j%10)
		}
		unbounded.want(t, "POST "+path+"/metric/m/measures", "["+body.String()[1:]+"]", 202, "")
		answer := decode[struct{ ID string }](t, unbounded.want(t, "GET "+path+"/metric/m", "", 200, "~").Body.String())
		ids = append(ids, answer.ID)
	}
	unbounded.want(t, "POST /v1/aggregation/resource/generic/metric/m?refresh=true&needed_overlap=0&stop=1", "{}",
		200, "[]")
	check(t, unbounded.options.Archives.(testnode.Archives).Checkpoint(t.Context()))
	small, shared = new(server), budget.New(3<<20, nil)
	small.options = unbounded.options
	small.options.Budget, small.options.Limits.QueryTimeout = shared, time.Minute
	registry := prometheus.NewRegistry()
	small.options.Registerer, small.options.Gatherer = registry, registry
	var err error
	small.handler, err = api.New(small.options)
	check(t, err)
	return small, unbounded, shared, ids
}

// A query that needs more memory than an answer may have is evaluated in parts of the time, and gives the same. A query
// that cannot be split is refused at once, with its need and its limit.
func TestLargeQueriesAreEvaluatedInParts(t *testing.T) {
	small, unbounded, shared, ids := largeServers(t)
	byID := func(operations string) string {
		return fmt.Sprintf(`{"operations":%q}`, strings.ReplaceAll(operations, "X",
			"(metric ("+strings.Join(ids, " mean) (")+" mean))"))
	}
	byName := func(operations string) string {
		return fmt.Sprintf(`{"resource_type":"generic","search":{},"operations":%q}`,
			strings.ReplaceAll(operations, "X", "(metric m mean)"))
	}
	same := func(request, body string) {
		t.Helper()
		want := unbounded.want(t, request, body, http.StatusOK, "~").Body.String()
		got := small.want(t, request, body, http.StatusOK, "~").Body.String()
		if got != want {
			t.Errorf("%s %.100s: %.300s\nwant %.300s", request, body, got, want)
		}
		if n := shared.LargestBody(); n != (3<<20)/8*5 {
			t.Errorf("%s %.100s: a body may have %d bytes", request, body, n)
		}
	}
	const fine = "POST /v1/aggregates?granularity=60"
	for _, operations := range []string{
		"(aggregate median X)", "(aggregate mean X)", "(aggregate max (resample 95pct 86400 X))",
		"(aggregate std (* 2 X))", "(/ (aggregate sum X) (aggregate count X))", "(resample mean 7200 X)",
	} {
		same(fine, byID(operations))
		same(fine, byName(operations))
	}
	same("POST /v1/aggregates", byName("(aggregate median X)"))
	same(fine+"&fill=null", byName("(aggregate min X)"))
	same(fine+"&needed_overlap=30", byName("(aggregate min X)"))
	same(fine+"&needed_overlap=30&start=2023-11-15&stop=2023-11-17", byName("(aggregate min X)"))
	same(fine+"&groupby=project_id", byName("(aggregate median X)"))
	same("POST /v1/aggregation/metric?granularity=60&fill=0", `["`+strings.Join(ids, `","`)+`"]`)
	same("POST /v1/aggregation/metric?granularity=60&needed_overlap=0&reaggregation=median",
		`["`+strings.Join(ids, `","`)+`"]`)
	same("POST /v1/aggregation/resource/generic/metric/m?granularity=60&needed_overlap=10&reaggregation=max", "{}")
	same("POST /v1/aggregation/resource/generic/metric/m?granularity=60&fill=null&resample=7200", "{}")
	same("POST /v1/aggregation/resource/generic/metric/m?granularity=60&fill=null&resample=86400", "{}")
	overlap := unbounded.want(t, fine+"&needed_overlap=99", byName("(aggregate min X)"), 400, "~overlap").Body.String()
	small.want(t, fine+"&needed_overlap=99", byName("(aggregate min X)"), 400, overlap)

	for _, body := range []string{byID("X"), byName("(aggregate mean (rolling mean 2 X))"), byName("(rateofchange X)")} {
		w := small.want(t, fine, body, http.StatusUnprocessableEntity,
			"~bytes or more, and one query may have 1572864 of --memory-limit", "Accept", wantsJSON)
		answer := decode[struct {
			Description struct {
				Detail struct{ Needed, Limit int64 }
			}
		}](t, w.Body.String()).Description.Detail
		if answer.Limit != 3<<19 || answer.Needed < 3<<19 || answer.Needed > 60*2400*64 {
			t.Errorf("%.100s: %+v", body, answer)
		}
	}
}

// Queries that fit one after the other all have their answers, and small ones between them. Each needs more than a
// quarter of the memory.
func TestQueriesWaitForMemory(t *testing.T) {
	small, unbounded, shared, ids := largeServers(t)
	small.options.Limits.Queries = 16
	registry := prometheus.NewRegistry()
	small.options.Registerer, small.options.Gatherer = registry, registry
	var err error
	small.handler, err = api.New(small.options)
	check(t, err)
	requests := [][2]string{
		{"POST /v1/aggregates?granularity=60",
			fmt.Sprintf(`{"operations":%q}`, "(aggregate median (metric ("+strings.Join(ids[:24], " mean) (")+" mean)))")},
		{"GET /v1/metric/" + ids[1] + "/measures?granularity=60", ""},
		{"POST /v1/search/metric?granularity=60&metric_id=" + strings.Join(ids[:6], "&metric_id="), `{">":50}`},
		{"GET /api/v1/query_range?start=1700000000&end=1700060000&step=600&query=sum({archive_policy=%22p%22})", ""},
	}
	var want []string
	for _, request := range requests {
		want = append(want, unbounded.want(t, request[0], request[1], 200, "~").Body.String())
	}
	var all sync.WaitGroup
	for client := range 16 {
		all.Go(func() {
			for i := range 2 * len(requests) {
				k := (client + i) % len(requests)
				w := small.call(t, requests[k][0], requests[k][1])
				if w.Code != http.StatusOK || w.Body.String() != want[k] {
					t.Errorf("%s: %d %.300s", requests[k][0], w.Code, w.Body)
				}
			}
		})
	}
	tiny := "GET /v1/metric/" + ids[1] + "/measures?granularity=3600"
	for range 50 {
		began := time.Now()
		small.want(t, tiny, "", 200, "~[[")
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("a small request took %v", took)
		}
	}
	all.Wait()
	if account := shared.Account(); account.Acquire(budget.Answers, 3<<19) != nil {
		t.Error("some memory did not come back")
	}
}
