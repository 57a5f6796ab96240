package cluster_test

import (
	"fmt"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"
)

// hungAnswer bounds a request whose process has to ask one that hangs. 2 s are promised; the rest is for a machine that
// is busy.
const hungAnswer = 6 * time.Second

// A process that stands still has its port and its lease for a while, and answers nobody. Requests to healthy processes
// that need it end soon, with a 503 that says when to come again; those that need it not go on.
func TestHungProcessHoldsUpNobody(t *testing.T) {
	t.Parallel()
	rounds := 2 // when it is new that the process hangs, and when it is known
	if testing.Short() {
		rounds = 1
	}
	data := t.TempDir()
	lease := []string{"--lease-ttl", "60s"} // so that nobody takes over
	holder := start(t, data, "api", lease...)
	api := start(t, data, "api", lease...)
	metricd := start(t, data, "metricd", lease...)
	known := newMetrics(t, holder, 2)
	body := fmt.Sprintf(`[{"timestamp": %d, "value": 1}]`, firstSecond)
	path := "/v1/metric/" + known[0] + "/measures"
	read, refresh := path+"?aggregation=sum", path+"?aggregation=sum&refresh=true"
	api.mustDo(http.MethodPost, path, body, http.StatusAccepted)
	aggregates(t, api, known[0], "sum")
	time.Sleep(time.Second) // until there was a checkpoint

	type request struct {
		method, path, body, cacheControl string
		want                             int
	}
	ask := func(p *process, requests ...request) {
		t.Helper()
		var all sync.WaitGroup
		for _, r := range requests {
			all.Go(func() {
				header := http.Header{}
				if r.cacheControl != "" {
					header.Set("Cache-Control", r.cacheControl)
				}
				begun := time.Now()
				status, header, answer, err := p.doWith(header, r.method, r.path, r.body)
				took := time.Since(begun)
				if err != nil || status != r.want || took > hungAnswer {
					t.Errorf("%s %s %s: %d %s %v after %v, want %d", r.method, r.path, r.cacheControl, status,
						answer, err, took, r.want)
				}
				if status == http.StatusServiceUnavailable && header.Get("Retry-After") == "" {
					t.Errorf("%s %s: a 503 does not say when to come again", r.method, r.path)
				}
				t.Logf("%s %.40s %s: %d after %v", r.method, r.path, r.cacheControl, status,
					took.Round(time.Millisecond))
			})
		}
		all.Wait()
	}
	hang := func(p *process, while func()) {
		t.Helper()
		if err := p.signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond) // until all of its threads stand still
		while()
		if err := p.signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
	groups := fmt.Sprintf(`{"operations": "(aggregate sum (metric %s sum))"}`, known[0])
	hang(metricd, func() {
		for range rounds {
			ask(api,
				request{http.MethodGet, read, "", "", http.StatusServiceUnavailable},
				request{http.MethodGet, refresh, "", "", http.StatusServiceUnavailable},
				request{http.MethodGet, read, "", "max-stale", http.StatusOK},
				request{http.MethodPost, "/v1/aggregates", groups, "", http.StatusServiceUnavailable},
				request{http.MethodPost, "/v1/aggregates", groups, "max-stale", http.StatusOK},
				request{http.MethodPost, path, body, "", http.StatusAccepted},
				request{http.MethodGet, "/v1/metric/" + known[1], "", "", http.StatusOK})
		}
	})
	api.eventually("reads again", func() bool {
		status, _, _, err := api.do(http.MethodGet, refresh, "")
		return err == nil && status == http.StatusOK
	})
	hang(holder, func() {
		for range rounds {
			ask(api,
				request{http.MethodGet, "/v1/metric/" + known[1], "", "", http.StatusServiceUnavailable},
				request{http.MethodPost, "/v1/metric", `{"archive_policy_name": "cluster"}`, "",
					http.StatusServiceUnavailable},
				request{http.MethodPost, path, body, "", http.StatusAccepted},
				// not known here
				request{http.MethodPost, "/v1/metric/" + known[1] + "/measures", body, "",
					http.StatusServiceUnavailable},
				// it also holds measures
				request{http.MethodGet, refresh, "", "", http.StatusServiceUnavailable},
				request{http.MethodGet, read, "", "", http.StatusOK})
		}
	})
	api.eventually("passes requests on again", func() bool {
		status, _, _, err := api.do(http.MethodGet, "/v1/metric/"+known[1], "")
		return err == nil && status == http.StatusOK
	})
	for _, p := range []*process{metricd, api, holder} {
		p.stop()
	}
}

// Requests turn to the new holder of the index once there is one. Requests that wait at the old one, which stood still,
// get no answer from its outdated index.
func TestHungHolderAnswersNothingStale(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	lease := []string{"--lease-ttl", "2s", "--lease-slack", "500ms"}
	holder, api := start(t, data, "api", lease...), start(t, data, "api", lease...)
	path := "/v1/metric/" + newMetrics(t, holder, 1)[0]
	if err := holder.signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond) // until all of its threads stand still
	asked := make(chan int)
	for range 4 {
		go func() {
			status, _, _, err := holder.do(http.MethodGet, path, "")
			if err != nil {
				status = 0
			}
			asked <- status
		}()
	}
	api.eventually("has the index", func() bool {
		begun := time.Now()
		status, _, _, err := api.do(http.MethodDelete, path, "")
		if took := time.Since(begun); took > hungAnswer {
			t.Errorf("%d %v after %v", status, err, took)
		}
		return err == nil && status == http.StatusNoContent
	})
	if err := holder.signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		if status := <-asked; status == http.StatusOK {
			t.Error("a process without a lease knows a metric that was deleted")
		}
	}
	select {
	case <-holder.ended:
	case <-time.After(2 * time.Minute):
		t.Error("goes on without a lease")
	}
	api.stop()
}
