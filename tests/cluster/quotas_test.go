package cluster_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Two APIs hold a project to its quota together: each refuses once the balance is used up, the usage has what both
// accepted, to the measure, within 5 s, and series that both create at once are as many as the quota.
func TestQuotasOfTwoAPIs(t *testing.T) {
	data := t.TempDir()
	apis := []*process{start(t, data, "api"), start(t, data, "api")}
	start(t, data, "metricd")
	const most, series, rounds = 1000, 10, 10
	put := func(project string, quota string) {
		apis[1].mustDo(http.MethodPut, "/v1/quotas/"+project, quota, http.StatusOK)
	}
	put("admin", fmt.Sprintf(`{"series": %d}`, series))
	for round := range rounds {
		put(fmt.Sprint("p", round), fmt.Sprintf(`{"measures_per_second": %d}`, most))
	}
	put("other", `{"measures_per_second": 1}`)
	// as sends a request of a project's only user.
	as := func(project string, p *process, method, path, body string, answer any) (status int, header http.Header) {
		request, err := http.NewRequestWithContext(t.Context(), method, p.url+path, strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return 0, nil
		}
		request.SetBasicAuth(project, "")
		request.Header.Set("Content-Type", "application/json")
		response, err := browser.Do(request)
		if err != nil {
			t.Error(err)
			return 0, nil
		}
		defer response.Body.Close()
		_ = json.NewDecoder(response.Body).Decode(answer)
		return response.StatusCode, response.Header
	}
	measuresOf := func(project string) (path string) {
		var metric struct{ ID string }
		as(project, apis[0], http.MethodPost, "/v1/metric", `{"archive_policy_name": "low"}`, &metric)
		return "/v1/metric/" + metric.ID + "/measures"
	}
	others := measuresOf("other")
	for _, p := range apis { // each has all quotas, or none: without one it would accept all
		p.eventually("has the quotas", func() bool {
			status, _ := as("other", p, http.MethodPost, others, `[{"timestamp": 1, "value": 1}]`, new(any))
			return status == http.StatusTooManyRequests
		})
	}
	var all sync.WaitGroup
	// spend sends from both until they refuse, and returns how much they accepted.
	spend := func(project, path string) int64 {
		const measures = 1000
		var accepted atomic.Int64
		for i, p := range apis {
			all.Go(func() {
				body := fmt.Sprintf(`{"timestamp": %d, "value": 1},`, firstSecond+i)
				body = "[" + strings.TrimSuffix(strings.Repeat(body, measures), ",") + "]"
				for range 1000 {
					switch status, header := as(project, p, http.MethodPost, path, body, new(any)); {
					case status == http.StatusAccepted:
						accepted.Add(measures)
					case status == http.StatusTooManyRequests && header.Get("Retry-After") != "":
						return
					default:
						t.Errorf("status %d, %v", status, header)
						return
					}
				}
				t.Error("an API has no quota")
			})
		}
		all.Wait()
		return accepted.Load()
	}
	var usage struct {
		Series   int
		Measures float64 `json:"measures_per_second"`
	}
	for round := 0; ; round++ {
		project := fmt.Sprint("p", round)
		path := measuresOf(project)
		began := time.Now()
		accepted := spend(project, path)
		took := time.Since(began).Seconds()
		if accepted < 5*most || float64(accepted) > most*(2*5+2*took+1) {
			t.Errorf("%d measures in %.1f s: a balance is %d", accepted, took, 5*most)
		}
		for time.Since(began) < 8*time.Second && usage.Measures*10 != float64(accepted) {
			time.Sleep(20 * time.Millisecond)
			as(project, apis[1], http.MethodGet, "/v1/usage", "", &usage)
		}
		if usage.Measures*10 == float64(accepted) {
			break
		}
		if round == rounds-1 { // a slow machine forgets what was sent first before it knows what was sent last
			t.Fatalf("%v measures of the last 10 s, want %d", usage.Measures*10, accepted)
		}
	}
	for range 2 * series {
		for _, p := range apis {
			all.Go(func() {
				status, _, answer, err := p.do(http.MethodPost, "/v1/metric", `{"archive_policy_name": "low"}`)
				if err != nil || status != http.StatusCreated && status != http.StatusForbidden {
					t.Errorf("%d %s %v", status, answer, err)
				}
			})
		}
	}
	all.Wait()
	if err := json.Unmarshal(apis[0].mustDo(http.MethodGet, "/v1/usage", "", http.StatusOK), &usage); err != nil ||
		usage.Series != series {
		t.Errorf("%d series, %v, want %d", usage.Series, err, series)
	}
}
