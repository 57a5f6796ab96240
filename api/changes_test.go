package api_test

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/api/policy"
	"github.com/gnocco-db/gnocco/correlate"
)

type changes struct {
	Before, Start, Stop string
	Metrics, Compared   int
	Changes             []struct {
		ID                   string
		Labels               map[string]string
		Granularity          float64
		Score, Before, After float64
		PerSecond            bool `json:"per_second"`
		Series               int
	}
}

// The metrics that moved most from one window to the next come first. Metrics without aggregates are not compared.
func TestChanges(t *testing.T) {
	s := newServer(t, nil)
	const window = 60
	columns := correlate.Values{make([]float64, 2*window), make([]float64, 2*window), make([]float64, 2*window),
		make([]float64, 2*window), make([]float64, 3)}
	for i := range 2 * window {
		wave := float64(i%7) - 3
		columns[0][i] = 10 + wave // stays
		columns[1][i] = 10 + wave // moves by ten
		columns[2][i] = float64(5 * i)
		columns[3][i] = float64(5 * i) // a counter that goes twice as fast
		if i >= window {
			columns[1][i] += 10
			columns[3][i] = float64(5*window + 10*(i-window))
		}
	}
	byID := s.series(t, columns)
	column := func(id string) int {
		for i := range columns {
			if &byID[id][0] == &columns[i][0] {
				return i
			}
		}
		t.Fatalf("no metric %s", id)
		return 0
	}
	ask := func(body string, headers ...string) changes {
		t.Helper()
		return decode[changes](t, s.want(t, "POST /v1/changes", body, http.StatusOK, "~", headers...).Body.String())
	}
	got := ask(fmt.Sprintf(`{"start":%d,"stop":%d,"each_series":true}`, window, 2*window))
	if got.Before != "1970-01-01T00:00:00+00:00" || got.Start != "1970-01-01T00:01:00+00:00" || got.Metrics != 5 ||
		got.Compared != 4 || len(got.Changes) != 4 {
		t.Fatalf("%+v", got)
	}
	var order []int
	for _, c := range got.Changes {
		order = append(order, column(c.ID))
		if c.Labels["metric_id"] != c.ID || c.Granularity != 1 {
			t.Errorf("%+v", c)
		}
	}
	if first, second := got.Changes[0], got.Changes[1]; fmt.Sprint(order[:2]) != "[3 1]" || !first.PerSecond ||
		first.Before != 5 || first.After != 10 || math.Abs(first.Score-50) > 1e-9 ||
		second.PerSecond || second.Before != 10 || second.After != 20 || second.Score < 4 || second.Score > 5 {
		t.Errorf("%v: %+v", order, got.Changes)
	}
	if got.Changes[2].Score > 0.2 || got.Changes[3].Score != 0 {
		t.Errorf("%+v", got.Changes[2:])
	}

	one := got.Changes[1].ID
	if got := ask(fmt.Sprintf(`{"start":%d,"stop":%d,"match":"{metric_id=\"%s\"}","limit":1}`, window, 2*window,
		one)); got.Metrics != 1 || len(got.Changes) != 1 || got.Changes[0].ID != one {
		t.Errorf("%+v", got)
	}
	// Users learn only of metrics that they may read.
	if got := ask(fmt.Sprintf(`{"start":%d,"stop":%d}`, window, 2*window), "user", "other"); got.Metrics != 0 ||
		got.Compared != 0 || len(got.Changes) != 0 {
		t.Errorf("%+v", got)
	}
	for body, want := range map[string]string{
		`{"start":60}`:                               "required key not provided",
		`{"start":60,"stop":60}`:                     "not after start",
		`{"start":60,"stop":70,"match":"{"}`:         "data['match']",
		`{"start":60,"stop":70,"aggregation":"odd"}`: "not an aggregation method",
		`{"start":60,"stop":70,"limit":0}`:           "data['limit']",
		`{"start":60,"stop":70,"each_series":1}`:     "data['each_series']",
		`{"start":60,"stop":"later"}`:                "data['stop']",
		`{"start":60,"stop":70,"more":1}`:            "extra keys not allowed",
	} {
		s.want(t, "POST /v1/changes", body, http.StatusBadRequest, "~"+want)
	}
}

// Counters are compared by their rates, also one that stood still; a classic histogram by the rate of its count. A name
// is one row, with its strongest series.
func TestChangesByType(t *testing.T) {
	s := newServer(t, nil)
	const window = 60 // scrapes of 10 s
	var samples []string
	for i := range 2 * window {
		at, late := 10_000*i+2_000, max(0, i-window)
		add := func(name string, v int, labels string) {
			samples = append(samples, strings.TrimSpace(fmt.Sprintf("%s %d %d %s", name, v, at, labels)))
		}
		add("errors_total", 7, "host=a") // stands still
		add("errors_total", 7+late, "host=b")
		add("hits_total", (20*i)%700, "") // is reset, and goes on as before
		for _, bound := range []string{"1", "5", "+Inf"} {
			add("wait_bucket", 3*i+late*late, "le="+bound)
		}
		add("wait_count", 3*i+late*late, "")
		add("load", i%5, "")
	}
	s.want(t, "POST /api/v1/write", remoteWrite(samples...), 204, "", asRemoteWrite...)
	s.refreshAll(t, "admin")
	ask := func(more string) changes {
		t.Helper()
		body := fmt.Sprintf(`{"start":%d,"stop":%d%s}`, 10*window, 20*window, more)
		return decode[changes](t, s.want(t, "POST /v1/changes", body, http.StatusOK, "~").Body.String())
	}
	got := ask("")
	var names []string
	for _, c := range got.Changes {
		names = append(names, c.Labels["__name__"])
		if grows := c.Labels["__name__"] != "load"; c.PerSecond != grows {
			t.Errorf("%+v", c)
		}
	}
	if fmt.Sprint(names[:2]) != "[errors_total wait_count]" || len(names) != 4 || got.Metrics != 8 || got.Compared != 5 {
		t.Fatalf("%v: %+v", names, got)
	}
	if c := got.Changes[0]; c.Labels["host"] != "b" || c.Series != 2 || c.Score != 100 || c.Before != 0 ||
		math.Abs(c.After-0.1) > 1e-12 {
		t.Errorf("%+v", c)
	}
	if c := got.Changes[2]; c.Score > 0.1 {
		t.Errorf("%+v", c)
	}
	if got := ask(`,"each_series":true`); len(got.Changes) != 5 {
		t.Errorf("%+v", got)
	}
}

// Users who may get a metric's measures may see the size of its archive.
func TestMetricArchive(t *testing.T) {
	rules, err := policy.Parse([]byte(`{"get measures": "role:admin"}`))
	check(t, err)
	s := newServer(t, func(o *api.Options) { o.Policy = rules })
	s.create(t, "/v1/archive_policy",
		`{"name":"p","back_window":1,"definition":[{"granularity":1,"points":1000},{"granularity":60,"points":1000}],"aggregation_methods":["mean"]}`, "user", "admin")
	id := s.create(t, "/v1/metric", `{"archive_policy_name":"p"}`, "user", "admin")
	path := "GET /v1/metric/" + id + "/archive"
	s.want(t, path, "", http.StatusOK,
		`{"bytes": 0, "raw": {"bytes": 0, "kept_from": null, "newest": null}, "archives": [{"granularity": 1.0, "bytes": 0}, {"granularity": 60.0, "bytes": 0}], "dropped_measures": 0, "late_measures": 0}`, "user", "admin")
	s.want(t, "POST /v1/metric/"+id+"/measures", `[{"timestamp":600,"value":1}]`, http.StatusAccepted,
		"", "user", "admin")
	s.want(t, "GET /v1/metric/"+id+"/measures?refresh=true", "", http.StatusOK, "~", "user", "admin")
	s.want(t, "POST /v1/metric/"+id+"/measures",
		`[{"timestamp":539,"value":1},{"timestamp":540,"value":2},{"timestamp":610,"value":2}]`, http.StatusAccepted,
		"", "user", "admin")
	s.want(t, path+"?refresh=maybe", "", http.StatusBadRequest, "~", "user", "admin")
	w := s.want(t, path+"?refresh=true", "", http.StatusOK,
		`~"kept_from": "1970-01-01T00:09:00+00:00", "newest": "1970-01-01T00:10:10+00:00"`, "user", "admin")
	if !strings.Contains(w.Body.String(), `"dropped_measures": 1, "late_measures": 1}`) {
		t.Error(w.Body)
	}
	s.want(t, path, "", http.StatusForbidden, "~", "user", "jd")
	s.want(t, "GET /v1/metric/00000000-0000-0000-0000-000000000000/archive", "", http.StatusNotFound,
		"~", "user", "admin")
}
