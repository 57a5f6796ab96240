package api_test

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/gnocco-db/gnocco/anomaly"
	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/api/policy"
	"github.com/gnocco-db/gnocco/correlate"
)

type changes struct {
	Before, Start, Stop string
	Metrics, Compared   int
	Moved               int
	Where               []anomaly.Pair
	Changes             []movedMetric
}

type movedMetric struct {
	ID                   string
	Labels               map[string]string
	Granularity          float64
	Score, Before, After float64
	Usual                float64
	PerSecond            bool `json:"per_second"`
	Quantile             *float64
	MovedAt              string `json:"moved_at"`
	Lag                  *float64
	Seasons              []string
	Series, Moved        int
	Where                []anomaly.Pair
	Alike                []movedMetric
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

// A series that moves at this hour of every day did not change, also from another level. One that stands still for once
// did. The answer says which series of a fleet moved, when, and with which days they were compared.
func TestChangesBySeason(t *testing.T) {
	s := newServer(t, nil)
	s.create(t, "/v1/archive_policy", `{"name":"prometheus","back_window":10000,"aggregation_methods":["mean"],
		"definition":[{"granularity":60,"points":100000}]}`, "user", "admin")
	const days, minutes, day = 8, 30, 1440
	var samples []string
	for d := range days {
		for i := range 2 * minutes {
			noise := (i * 7 % 5) - 2
			for host := range 12 {
				v := 1000*(d%3) + noise // with a level that changes from day to day
				if i >= minutes {
					v += 40 // every day at this time
				}
				if d == days-1 && i >= minutes+5 && host%3 == 1 {
					v += 60
				}
				samples = append(samples, fmt.Sprintf("load %d %d host=h%d,flavor=m1.%d", v, 60_000*(d*day+i+1), host, host%3))
			}
			workday := 0 // today, and before the last two days
			if d == days-1 || d == days-4 {
				workday = 40 * (i / minutes)
			}
			samples = append(samples, fmt.Sprintf("daily %d %d", noise+40*(i/minutes), 60_000*(d*day+i+1)),
				fmt.Sprintf("workday %d %d", noise+workday, 60_000*(d*day+i+1)),
				fmt.Sprintf("missing %d %d", noise+40*(i/minutes)*min(1, days-1-d), 60_000*(d*day+i+1)))
		}
	}
	s.want(t, "POST /api/v1/write", remoteWrite(samples...), 204, "", asRemoteWrite...)
	s.refreshAll(t, "admin")
	start := 60 * ((days-1)*day + minutes + 1)
	got := decode[changes](t, s.want(t, "POST /v1/changes", fmt.Sprintf(`{"start":%d,"stop":%d}`, start, start+60*minutes),
		http.StatusOK, "~").Body.String())
	if len(got.Changes) != 4 || got.Changes[1].Labels["__name__"] != "load" || got.Changes[2].Score > 0.5 {
		t.Fatalf("%+v", got)
	}
	if c := got.Changes[0]; c.Labels["__name__"] != "missing" || c.Score < 4 || c.Moved != 1 || c.After > c.Before+4 ||
		c.Usual < c.Before+36 || c.Usual > c.Before+44 || len(c.Seasons) != 4 {
		t.Errorf("a rise that did not come: %+v", c)
	}
	if c := got.Changes[1]; c.Score < 4 || c.Series != 12 || c.Moved != 4 ||
		fmt.Sprint(c.Where) != "[{flavor m1.1 4 4}]" ||
		fmt.Sprint(c.Seasons) != "[1970-01-07T00:31:00+00:00 1970-01-06T00:31:00+00:00 1970-01-05T00:31:00+00:00 "+
			"1970-01-01T00:31:00+00:00]" {
		t.Errorf("%+v", c)
	}
	if c := got.Changes[1]; c.MovedAt < "1970-01-08T00:31" || c.MovedAt > "1970-01-08T00:37" {
		t.Errorf("moved at %s", c.MovedAt)
	}
}

// Metrics moved before, with or after a moment. Names whose series moved together are one row. The answer has the
// labels of all that moved far.
func TestChangesExplainAMoment(t *testing.T) {
	s := newServer(t, nil)
	s.create(t, "/v1/archive_policy", `{"name":"prometheus","back_window":10000,"aggregation_methods":["mean"],
		"definition":[{"granularity":60,"points":100000}]}`, "user", "admin")
	const minutes = 60
	names := []struct {
		name string
		at   int // minutes after the begin of the window, on the hosts of one rack; 0: nowhere
	}{{"disk", 4}, {"cpu", 12}, {"net", 13}, {"queue", 25}, {"quiet", 0}}
	var samples []string
	for i := range 2 * minutes {
		for host := range 12 {
			for n, of := range names {
				v := 100*n + (i*7+host)%5
				if of.at > 0 && host%4 == 2 && i >= minutes+of.at {
					v += 50 - 5*n
				}
				samples = append(samples, fmt.Sprintf("%s %d %d host=h%d,rack=r%d", of.name, v, 60_000*(i+1), host, host%4))
			}
		}
	}
	s.want(t, "POST /api/v1/write", remoteWrite(samples...), 204, "", asRemoteWrite...)
	s.refreshAll(t, "admin")
	ask := func(more string) changes {
		t.Helper()
		body := fmt.Sprintf(`{"start":%d,"stop":%d%s}`, 60*(minutes+1), 60*(2*minutes+1), more)
		return decode[changes](t, s.want(t, "POST /v1/changes", body, http.StatusOK, "~").Body.String())
	}
	got := ask(fmt.Sprintf(`,"at":%d`, 60*(minutes+13)))
	if got.Moved != 12 || fmt.Sprint(got.Where) != "[{rack r2 12 12}]" {
		t.Errorf("%d moved, with %v", got.Moved, got.Where)
	}
	text := ""
	for _, c := range got.Changes {
		lag := "none"
		if c.Lag != nil {
			lag = fmt.Sprint(*c.Lag)
		}
		text += fmt.Sprintf("%s %v %d/%d %v", c.Labels["__name__"], lag, c.Moved, c.Series, c.Where)
		for _, other := range c.Alike {
			text += " with " + other.Labels["__name__"]
		}
		text += "\n"
	}
	const want = `disk -480 3/12 [{rack r2 3 3}]
cpu 0 3/12 [{rack r2 3 3}] with net
queue 780 3/12 [{rack r2 3 3}]
quiet none 0/12 []
`
	if text != want {
		t.Errorf("%s\nwant %s", text, want)
	}
	alone := ask("").Changes
	for _, c := range alone {
		if c.Lag != nil || len(c.Alike) > 0 {
			t.Errorf("without a moment: %+v", c)
		}
	}
	each := ask(fmt.Sprintf(`,"at":%d,"each_series":true,"match":"{rack=\"r2\",__name__!~\"q.*\"}"`,
		60*(minutes+13))).Changes
	if len(alone) != 5 || len(each) != 7 {
		t.Errorf("%d names and %d series", len(alone), len(each)) // 7 is the server's limit
	}
	for _, c := range each {
		if c.Lag == nil || len(c.Alike) > 0 {
			t.Errorf("of each series: %+v", c)
		}
	}
	s.want(t, "POST /v1/changes", `{"start":60,"stop":70,"at":"odd"}`, http.StatusBadRequest, "~data['at']")
}

// Counters are compared by their rates, also one that stood still; a histogram by the rate of its count and by its
// quantile. A name is one row, with its strongest series.
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
		add("wait_bucket", 3*i, "le=1")
		add("wait_bucket", 3*i+late*late, "le=5")
		add("wait_bucket", 3*i+late*late, "le=+Inf")
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
		name := c.Labels["__name__"]
		if grows := name != "load" && name != "wait_bucket"; c.PerSecond != grows {
			t.Errorf("%+v", c)
		}
		if quantile := name == "wait_bucket"; (c.Quantile != nil) != quantile || c.Labels["le"] != "" {
			t.Errorf("%+v", c)
		}
	}
	if fmt.Sprint(names[:3]) != "[errors_total wait_bucket wait_count]" || len(names) != 5 || got.Metrics != 8 ||
		got.Compared != 6 {
		t.Fatalf("%v: %+v", names, got)
	}
	if c := got.Changes[0]; c.Labels["host"] != "b" || c.Series != 2 || c.Score != 100 || c.Before != 0 ||
		math.Abs(c.After-0.1) > 1e-12 {
		t.Errorf("%+v", c)
	}
	if c := got.Changes[1]; math.Abs(c.Before-0.95) > 1e-12 || c.After < 4.5 || c.After > 5 {
		t.Errorf("%+v", c)
	}
	if c := got.Changes[3]; c.Score > 0.1 {
		t.Errorf("%+v", c)
	}
	if got := ask(`,"each_series":true`); len(got.Changes) != 6 {
		t.Errorf("%+v", got)
	}
	if got := ask(`,"match":"wait_bucket"`); len(got.Changes) != 1 || got.Compared != 2 || got.Changes[0].Series != 2 {
		t.Errorf("%+v", got) // its last bucket stands for the count
	}
}

// A native histogram is one row: its quantile where that moved more than the rate of its count, and else that.
func TestChangesOfNativeHistograms(t *testing.T) {
	s := newServer(t, nil)
	slow := histogramSeries{labels: labels.FromStrings("__name__", "slow")}
	busy := histogramSeries{labels: labels.FromStrings("__name__", "busy")}
	const window = 80
	for i := range 2 * window {
		late := max(0, i-window)
		of := func(low, high int) *histogram.FloatHistogram { // buckets (1, 2] and (32, 64]
			return &histogram.FloatHistogram{Count: float64(low + high), Sum: 1, ZeroThreshold: 1e-128,
				PositiveSpans:   []histogram.Span{{Offset: 1, Length: 1}, {Offset: 4, Length: 1}},
				PositiveBuckets: []float64{float64(low), float64(high)}}
		}
		slow.floats = append(slow.floats, of(100*i-10*late, 10*late))
		busy.floats = append(busy.floats, of(100*i+900*late, 0))
	}
	written := remoteWriteHistograms(t, 1, []histogramSeries{slow, busy})
	s.want(t, "POST /api/v1/write", written, http.StatusNoContent, "", asRemoteWrite...)
	s.refreshAll(t, "admin")
	body := fmt.Sprintf(`{"start":%d,"stop":%d}`, 15*window+30, 30*window+30)
	got := decode[changes](t, s.want(t, "POST /v1/changes", body, http.StatusOK, "~").Body.String())
	byName := map[string]int{}
	for i, c := range got.Changes {
		byName[c.Labels["__name__"]] = i + 1
	}
	if len(got.Changes) != 2 || len(byName) != 2 {
		t.Fatalf("%+v", got)
	}
	if c := got.Changes[byName["slow"]-1]; c.Quantile == nil || *c.Quantile != 0.95 || c.PerSecond ||
		math.Abs(c.Before-1.95) > 1e-9 || math.Abs(c.After-48) > 1e-9 || c.Labels["__histogram__"] != "" {
		t.Errorf("%+v", c)
	}
	if c := got.Changes[byName["busy"]-1]; c.Quantile != nil || !c.PerSecond || c.After < 4*c.Before {
		t.Errorf("%+v", c)
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
