package memory_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// With range queries in PromQL and correlations over all series at once, the server stays within its limit and a
// quarter, and serves one who asks for little.
func TestMemoryOfQueriesStaysBounded(t *testing.T) {
	const series, measures = 1000, 100
	long := 8 * time.Second
	if testing.Short() {
		long = 3 * time.Second
	}
	s := start(t, "--max-queries", "64") // so that memory alone bounds them
	s.post("/v1/archive_policy",
		`{"name":"second","definition":[{"granularity":1,"points":4000}],"aggregation_methods":["mean"]}`,
		http.StatusCreated, nil)
	s.post("/v1/archive_policy_rule", `{"name":"all","metric_pattern":"*","archive_policy_name":"second"}`,
		http.StatusCreated, nil)
	const resource = "6f1a4f8e-3b0a-4c5e-9b43-6b8c1a2f6a01"
	s.post("/v1/resource/generic", `{"id":"`+resource+`"}`, http.StatusCreated, nil)
	for from := 0; from < series; from += 250 {
		var metrics []string
		for i := from; i < from+250; i++ {
			var values []string
			for k := range measures {
				values = append(values, fmt.Sprintf(`{"timestamp":%d,"value":%d.%d}`, 1_600_000_000+10*k, k*i%97, i%10))
			}
			metrics = append(metrics, fmt.Sprintf(`"cpu %d":[%s]`, i, strings.Join(values, ",")))
		}
		s.post("/v1/batch/resources/metrics/measures?create_metrics=true",
			`{"`+resource+`":{`+strings.Join(metrics, ",")+`}}`, http.StatusAccepted, nil)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		var status struct {
			Storage struct{ Summary struct{ Measures int } }
		}
		if s.get("/v1/status", &status); status.Storage.Summary.Measures == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the measures are not processed")
		}
	}
	if *seconds > 0 {
		long = time.Duration(*seconds) * time.Second
	}
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	var answers statuses
	var clients sync.WaitGroup
	ask := func(what, method, path, body string) {
		clients.Go(func() {
			for ctx.Err() == nil {
				var text []byte
				if body != "" {
					text = []byte(body)
				}
				response, err := s.client.Do(newRequest(ctx, method, s.address, path, text))
				if err != nil {
					continue
				}
				_, err = io.Copy(io.Discard, response.Body)
				response.Body.Close()
				if err == nil {
					answers.add(what, response.StatusCode)
				}
				if response.StatusCode == http.StatusServiceUnavailable {
					time.Sleep(20 * time.Millisecond)
				}
			}
		})
	}
	all := url.QueryEscape(`{resource_id="` + resource + `"}`)
	for range 12 {
		ask("large ranges", http.MethodGet, "/api/v1/query_range?start=1600000000&end=1600003400&step=1&query="+all, "")
		ask("ranges", http.MethodGet, "/api/v1/query_range?start=1600000000&end=1600000300&step=1&query="+all, "")
		ask("subqueries", http.MethodGet, "/api/v1/query?time=1600003400&query=last_over_time("+all+"[3000s:1s])", "")
		ask("correlations", http.MethodPost, "/v1/correlations",
			`{"resource_type":"generic","name":"cpu*","granularity":1,"stop":1600001000}`)
	}
	ask("small ranges", http.MethodGet, "/api/v1/query_range?start=1600000000&end=1600000050&step=1&query="+
		url.QueryEscape(`{__name__=~"cpu 10."}`), "")
	clients.Wait()
	peak := s.peak()
	t.Logf("answers: %v; resident %d MB at most", answers.counts, peak>>20)
	if peak > limit+limit/4 {
		t.Errorf("%d MB were resident, with a limit of %d MB", peak>>20, limit>>20)
	}
	for what, counts := range answers.counts {
		for status := range counts {
			refused := status == http.StatusServiceUnavailable && what != "small ranges"
			if status != http.StatusOK && status != http.StatusAccepted && !refused {
				t.Errorf("%s: status %d", what, status)
			}
		}
	}
}
