package api_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/api/policy"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

type policyCost struct {
	Metrics        int
	Sampled        int
	Silent         int
	MeasuresPerDay float64 `json:"measures_per_day"`
	StoredBytes    float64 `json:"stored_bytes"`
	RawBytes       float64 `json:"raw_bytes"`
	Bytes          float64
	BytesPerDay    float64 `json:"bytes_per_day"`
	Granularities  []struct {
		Granularity       string
		Points            *int64
		AggregatesPerDay  float64 `json:"aggregates_per_day"`
		BytesPerAggregate float64 `json:"bytes_per_aggregate"`
		Bytes             *float64
		BytesPerDay       float64 `json:"bytes_per_day"`
		StoredBytes       float64 `json:"stored_bytes"`
		MeasuredOn        *string `json:"measured_on"`
		Measured          int     `json:"measured_aggregates"`
	}
	Assumed []string `json:"assumed_aggregation_methods"`
}

func near(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	if math.Abs(got-want) > share*math.Abs(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// Two metrics with a measure every ten seconds for two hours, and two without any.
func TestPolicyCost(t *testing.T) {
	s := newServer(t, nil)
	admin := []string{"user", "admin", "Accept", wantsJSON}
	s.create(t, "/v1/archive_policy",
		`{"name":"p","aggregation_methods":["mean","max"],"definition":[{"granularity":"10 s","timespan":"1 day"},{"granularity":"1 minute","timespan":"7 days"}]}`, admin...)
	end := time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC).Unix() // newServer's now
	for k := range 4 {
		id := s.create(t, "/v1/metric", `{"archive_policy_name":"p"}`, admin...)
		var measures []string
		for i := range 720 * (k % 2) {
			measures = append(measures, fmt.Sprintf(`{"timestamp":%d,"value":%d}`, end-7200+int64(10*i), i*i*7919%1009))
		}
		if len(measures) > 0 {
			s.want(t, "POST /v1/metric/"+id+"/measures", "["+strings.Join(measures, ",")+"]", 202, "", admin...)
			s.want(t, "GET /v1/metric/"+id+"/measures?refresh=true&start="+fmt.Sprint(end), "", 200, "[]", admin...)
		}
	}
	check(t, s.options.Archives.(testnode.Archives).Checkpoint(t.Context()))
	ask := func(request, body string) policyCost {
		t.Helper()
		return decode[policyCost](t, s.want(t, request, body, 200, "~", admin...).Body.String())
	}

	// The present policy: the estimates agree with the bytes on the disk.
	now := ask("GET /v1/archive_policy/p/cost", "")
	if now.Metrics != 4 || now.Sampled != 4 || now.Silent != 2 || len(now.Assumed) != 0 || len(now.Granularities) != 2 {
		t.Fatalf("got %+v", now)
	}
	near(t, "measures", now.MeasuresPerDay, 8640/2, 1e-9)
	stored, full := 0., now.RawBytes
	for i, g := range now.Granularities {
		near(t, g.Granularity+": aggregates", g.AggregatesPerDay, []float64{8640, 1440}[i]/2, 1e-9)
		near(t, g.Granularity+": stored", g.BytesPerAggregate*float64(g.Measured)/4, g.StoredBytes, 0.1)
		near(t, g.Granularity+": full", *g.Bytes, []float64{1, 7}[i]*g.BytesPerDay, 1e-9)
		near(t, g.Granularity+": a day", g.BytesPerDay, g.AggregatesPerDay*g.BytesPerAggregate, 1e-9)
		if *g.MeasuredOn != g.Granularity || *g.Points != []int64{8640, 10080}[i] {
			t.Errorf("%+v", g)
		}
		stored += g.StoredBytes
		full += *g.Bytes
	}
	near(t, "full", now.Bytes, full, 1e-9)
	if now.StoredBytes <= stored || now.RawBytes <= 0 || now.BytesPerDay != 0 {
		t.Errorf("%v stored, of these %v in splits, %v raw", now.StoredBytes, stored, now.RawBytes)
	}
	if same := ask("POST /v1/archive_policy/p/cost", `{"back_window":0}`); fmt.Sprintf("%+v",
		same.Bytes) != fmt.Sprintf("%+v", now.Bytes) {
		t.Errorf("the same policy: %v and %v", same.Bytes, now.Bytes)
	}

	// Another policy: seconds estimated from tens of seconds, hours from minutes, without limit, and a column without
	// an estimate.
	then := ask("POST /v1/archive_policy/p/cost",
		`{"definition":[{"granularity":"1 s","timespan":"1 h"},{"granularity":"10 s","timespan":"2 days"},{"granularity":"1 h"}],"aggregation_methods":["mean","95pct"],"back_window":1}`)
	g := then.Granularities
	if *g[0].MeasuredOn != "0:00:10" || *g[1].MeasuredOn != "0:00:10" || *g[2].MeasuredOn != "0:01:00" ||
		g[2].Bytes != nil || g[2].Points != nil {
		t.Fatalf("got %+v", then)
	}
	near(t, "seconds", g[0].AggregatesPerDay, 8640/2, 1e-9)
	near(t, "twice as long", *g[1].Bytes, 2*g[1].BytesPerDay, 1e-9)
	near(t, "hours", g[2].AggregatesPerDay, 24./2, 1e-9)
	near(t, "without limit", then.BytesPerDay, g[2].BytesPerDay, 1e-9)
	near(t, "raw", then.RawBytes, now.RawBytes*60*2, 1e-9) // two blocks of an hour, one of a minute
	if fmt.Sprint(then.Assumed) != "[95pct]" {
		t.Errorf("assumed: %v", then.Assumed)
	}
	s.want(t, "GET /v1/archive_policy/p", "", 200, `~"aggregation_methods": ["mean", "max"]`)

	// Few of many, and none at all.
	if few := ask("GET /v1/archive_policy/p/cost?sample=1", ""); few.Metrics != 4 || few.Sampled != 1 {
		t.Errorf("got %+v", few)
	}
	s.create(t, "/v1/archive_policy",
		`{"name":"empty","aggregation_methods":["mean"],"definition":[{"granularity":"1 s"}]}`, admin...)
	if none := ask("GET /v1/archive_policy/empty/cost", ""); none.Metrics+none.Sampled != 0 || none.Bytes != 0 ||
		none.Granularities[0].MeasuredOn != nil {
		t.Errorf("got %+v", none)
	}

	for _, sample := range []string{"0", "1001", "x"} {
		s.want(t, "GET /v1/archive_policy/p/cost?sample="+sample, "", 400, "~sample", admin...)
	}
	s.want(t, "POST /v1/archive_policy/p/cost", `{}`, 400, "~required key not provided", admin...)
	s.want(t, "POST /v1/archive_policy/p/cost", `{"definition":[{"granularity":"0 s"}]}`, 400,
		"~must be positive", admin...)
	s.want(t, "GET /v1/archive_policy/q/cost", "", 404, "~does not exist", admin...)
	for _, method := range []string{"GET", "POST"} {
		s.want(t, method+" /v1/archive_policy/p/cost", `{"back_window":0}`, 403, "~")
	}
}

// The operator may let others know.
func TestPolicyCostRule(t *testing.T) {
	s := newServer(t, func(o *api.Options) {
		rules, err := policy.Parse([]byte(`"get archive policy cost": ""`))
		check(t, err)
		o.Policy = rules
	})
	s.policy(t, "p")
	s.want(t, "GET /v1/archive_policy/p/cost", "", 200, `~"metrics": 0`)
}
