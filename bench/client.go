package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// granularities of the benchmark's archive policy, with the points kept: 30 days, a year, ten years.
var granularities = []struct {
	width  time.Duration
	points int
}{{time.Minute, 43200}, {time.Hour, 8760}, {24 * time.Hour, 3650}}

// policyName is of the archive policy that all benchmarks use. The name changes with the definition, for a server may
// have the policy from an earlier run.
const policyName = "bench-1m-1h-1d"

// requestTimeout is how long one request may take before the benchmark gives up; Gnocchi under load takes its time.
const requestTimeout = 5 * time.Minute

// client sends requests to one server over at most a given number of connections. Answers are not compressed. Package
// internal/client is for commands: it signs in, decodes and explains, and a benchmark would also measure that.
type client struct {
	base           string // URL without a slash at its end
	user, password string
	connections    int
	http           *http.Client

	policy  string   // of the metrics that it creates
	methods []string // of that policy
}

func newClient(o *Options, base string, connections int) *client {
	policy, methods := policyName, methods
	if o.Percentiles {
		policy, methods = policyName+"-percentiles", slices.Concat(methods, orderMethods)
	}
	return &client{
		policy: policy, methods: methods,
		base: strings.TrimSuffix(base, "/"), user: o.User, password: o.Password, connections: connections,
		http: &http.Client{Timeout: requestTimeout, Transport: &http.Transport{
			MaxConnsPerHost: connections, MaxIdleConnsPerHost: connections,
			DisableCompression: true, WriteBufferSize: 64 << 10, ReadBufferSize: 64 << 10,
		}},
	}
}

// close ends the connections.
func (c *client) close() { c.http.CloseIdleConnections() }

// statusError is an answer with another status than the one wanted.
type statusError struct {
	method, path string
	status       int
	body         string // its beginning
}

func (e *statusError) Error() string {
	return fmt.Sprintf("%s %s: status %d: %s", e.method, e.path, e.status, e.body)
}

// do sends one request, and reads the answer into answer, which may be nil.
func (c *client) do(ctx context.Context, method, path string, body []byte, wanted int, answer *bytes.Buffer) error {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if len(body) > 0 {
		request.Header.Set("Content-Type", "application/json")
	}
	request.SetBasicAuth(c.user, c.password)
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != wanted {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 500))
		_, _ = io.Copy(io.Discard, response.Body)
		return &statusError{method, path, response.StatusCode, strings.TrimSpace(string(text))}
	}
	if answer == nil {
		_, err = io.Copy(io.Discard, response.Body)
		return err
	}
	answer.Reset()
	_, err = answer.ReadFrom(response.Body)
	return err
}

// createPolicy makes the archive policy unless it is there.
func (c *client) createPolicy(ctx context.Context) error {
	type item struct {
		Granularity float64 `json:"granularity"` // seconds
		Points      int     `json:"points"`
	}
	policy := struct {
		Name        string   `json:"name"`
		BackWindow  int      `json:"back_window"`
		Definition  []item   `json:"definition"`
		Aggregation []string `json:"aggregation_methods"`
	}{Name: c.policy, Aggregation: c.methods}
	for _, g := range granularities {
		policy.Definition = append(policy.Definition, item{g.width.Seconds(), g.points})
	}
	body, err := json.Marshal(policy)
	if err != nil {
		return err
	}
	err = c.do(ctx, http.MethodPost, "/v1/archive_policy", body, http.StatusCreated, nil)
	var status *statusError
	if errors.As(err, &status) && status.status == http.StatusConflict {
		return nil
	}
	return err
}

// createMetrics makes n metrics and returns their ids.
func (c *client) createMetrics(ctx context.Context, n int) ([]string, error) {
	if err := c.createPolicy(ctx); err != nil {
		return nil, err
	}
	ids := make([]string, n)
	body := []byte(`{"archive_policy_name":"` + c.policy + `"}`)
	err := c.spread(ctx, n, func(ctx context.Context, i int, answer *bytes.Buffer) error {
		if err := c.do(ctx, http.MethodPost, "/v1/metric", body, http.StatusCreated, answer); err != nil {
			return err
		}
		var metric struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(answer.Bytes(), &metric); err != nil || metric.ID == "" {
			return fmt.Errorf("POST /v1/metric: no id in %q", answer.String())
		}
		ids[i] = metric.ID
		return nil
	})
	return ids, err
}

// spread calls f for 0 … n-1, in this order, as many at a time as there are connections; each call has a buffer of its
// own. It stops at the first error.
func (c *client) spread(
	ctx context.Context, n int, f func(ctx context.Context, i int, answer *bytes.Buffer) error,
) error {
	buffers := sync.Pool{New: func() any { return new(bytes.Buffer) }}
	requests, calling := errgroup.WithContext(ctx)
	requests.SetLimit(c.connections)
	for i := 0; i < n && calling.Err() == nil; i++ {
		requests.Go(func() error {
			answer := buffers.Get().(*bytes.Buffer)
			defer buffers.Put(answer)
			return f(calling, i, answer)
		})
	}
	if err := requests.Wait(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// send posts batches of measures, each to be answered by 202.
func (c *client) send(ctx context.Context, bodies [][]byte) error {
	return c.spread(ctx, len(bodies), func(ctx context.Context, i int, _ *bytes.Buffer) error {
		return c.sendOne(ctx, bodies[i])
	})
}

func (c *client) sendOne(ctx context.Context, body []byte) error {
	return c.do(ctx, http.MethodPost, "/v1/batch/metrics/measures", body, http.StatusAccepted, nil)
}

// backlog is what GET /v1/status says waits to be processed.
func (c *client) backlog(ctx context.Context) (int, error) {
	var answer bytes.Buffer
	if err := c.do(ctx, http.MethodGet, "/v1/status?details=false", nil, http.StatusOK, &answer); err != nil {
		return 0, err
	}
	var status struct {
		Storage struct {
			Summary struct {
				Measures *int `json:"measures"`
			} `json:"summary"`
		} `json:"storage"`
	}
	if err := json.Unmarshal(answer.Bytes(), &status); err != nil {
		return 0, fmt.Errorf("GET /v1/status: %w", err)
	}
	if status.Storage.Summary.Measures == nil {
		return 0, fmt.Errorf("GET /v1/status: no summary in %q", answer.String())
	}
	return *status.Storage.Summary.Measures, nil
}

// row is one aggregate of an answer.
type row struct {
	start       time.Time
	granularity time.Duration
	value       float64
}

// UnmarshalJSON reads [timestamp, granularity in seconds, value].
func (r *row) UnmarshalJSON(text []byte) error {
	var start string
	var seconds float64
	if err := json.Unmarshal(text, &[]any{&start, &seconds, &r.value}); err != nil {
		return err
	}
	r.granularity = time.Duration(seconds * float64(time.Second))
	var err error
	r.start, err = time.Parse(time.RFC3339Nano, start)
	return err
}

// measuresPath is the request for one aggregation of a metric from start on; the zero start means all of it.
func measuresPath(id, method string, granularity time.Duration, start time.Time) string {
	query := "aggregation=" + method + "&granularity=" + strconv.FormatFloat(granularity.Seconds(), 'f', -1, 64)
	if !start.IsZero() {
		query += "&start=" + url.QueryEscape(start.UTC().Format(timestampFormat))
	}
	return "/v1/metric/" + id + "/measures?" + query
}

// measures reads the aggregates that a path of measuresPath asks for.
func (c *client) measures(ctx context.Context, path string) ([]row, error) {
	var answer bytes.Buffer
	if err := c.do(ctx, http.MethodGet, path, nil, http.StatusOK, &answer); err != nil {
		return nil, err
	}
	return parseRows(path, answer.Bytes())
}

func parseRows(path string, answer []byte) ([]row, error) {
	var rows []row
	if err := json.Unmarshal(answer, &rows); err != nil {
		return nil, fmt.Errorf("GET %s: %w", path, err)
	}
	return rows, nil
}
