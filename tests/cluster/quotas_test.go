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
	const most, series = 1000, 10
	metric := newMetricOf(t, apis[0], "low")
	apis[1].mustDo(http.MethodPut, "/v1/quotas/admin",
		fmt.Sprintf(`{"series": %d, "measures_per_second": %d}`, series, most), http.StatusOK)
	apis[1].mustDo(http.MethodPut, "/v1/quotas/other", `{"measures_per_second": 1}`, http.StatusOK)
	other := func(p *process, path, body string, answer any) (status int) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.SetBasicAuth("other", "")
		request.Header.Set("Content-Type", "application/json")
		response, err := browser.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		_ = json.NewDecoder(response.Body).Decode(answer)
		return response.StatusCode
	}
	var others struct{ ID string }
	other(apis[0], "/v1/metric", `{"archive_policy_name": "low"}`, &others)
	for _, p := range apis { // each has all quotas, or none: without one it would accept all
		p.eventually("has the quotas", func() bool {
			return other(p, "/v1/metric/"+others.ID+"/measures", `[{"timestamp": 1, "value": 1}]`,
				new(any)) == http.StatusTooManyRequests
		})
	}
	const measures = 100
	began := time.Now()
	var accepted atomic.Int64
	var all sync.WaitGroup
	for i, p := range apis {
		all.Go(func() {
			for n := range 1000 {
				body := fmt.Sprintf(`{"timestamp": %d, "value": 1},`, firstSecond+2*n+i)
				status, header, answer, err := p.do(http.MethodPost, "/v1/metric/"+metric+"/measures",
					"["+strings.TrimSuffix(strings.Repeat(body, measures), ",")+"]")
				switch {
				case err == nil && status == http.StatusAccepted:
					accepted.Add(measures)
				case err == nil && status == http.StatusTooManyRequests && header.Get("Retry-After") == "1":
					return
				default:
					t.Errorf("%d %s %v", status, answer, err)
					return
				}
			}
			t.Error("an API has no quota")
		})
	}
	all.Wait()
	took := time.Since(began).Seconds()
	if n := accepted.Load(); n < 5*most || float64(n) > most*(2*5+2*took+1) {
		t.Errorf("%d measures in %.1f s: a balance is %d", n, took, 5*most)
	}
	var usage struct {
		Series   int
		Measures float64 `json:"measures_per_second"`
	}
	for deadline := time.Now().Add(5 * time.Second); usage.Measures*10 != float64(accepted.Load()); {
		if time.Now().After(deadline) {
			t.Fatalf("%v measures of the last 10 s, want %d", usage.Measures*10, accepted.Load())
		}
		if err := json.Unmarshal(apis[1].mustDo(http.MethodGet, "/v1/usage", "", http.StatusOK), &usage); err != nil {
			t.Fatal(err)
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
