package api_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/carbonara"
)

// countingResampler is the processor's, in large batches, and counts.
type countingResampler struct {
	*carbonara.CPUResampler
	batches, measures atomic.Int64
}

func (r *countingResampler) Resample(ctx context.Context, batch *carbonara.Batch, result *carbonara.Result) error {
	r.batches.Add(1)
	r.measures.Add(int64(len(batch.Values)))
	return r.CPUResampler.Resample(ctx, batch, result)
}

func (*countingResampler) Accelerates(*carbonara.Plan, int, int, int) bool { return true }

// Requests go through the resampler that the API was given, in as few batches as can be, and are answered as without
// it.
func TestRequestsGoThroughTheResampler(t *testing.T) {
	counting := &countingResampler{CPUResampler: carbonara.NewCPUResampler(2)}
	servers := []*server{newServer(t, nil), newServer(t, func(o *api.Options) { o.Resampler = counting })}
	ids := make([][]string, len(servers))
	for k, s := range servers {
		s.create(t, "/v1/archive_policy",
			`{"name":"p","definition":[{"granularity":60}],"aggregation_methods":["mean"]}`, "user", "admin")
		for m := range 12 {
			id := s.create(t, "/v1/metric", `{"archive_policy_name":"p"}`)
			ids[k] = append(ids[k], id)
			var measures []string
			for i := range 200 {
				measures = append(measures, fmt.Sprintf(`{"timestamp":%d,"value":%d.5}`,
					1425652440+60*i, (i*i+m*31)%57))
			}
			s.want(t, "POST /v1/metric/"+id+"/measures", "["+strings.Join(measures, ",")+"]", 202, "")
			s.want(t, "GET /v1/metric/"+id+"/measures?refresh=true", "", 200, "~") // or a worker may be at it
		}
	}
	f := func(request, body string, batches, measures int64) {
		t.Helper()
		var answers []string
		for k, s := range servers {
			replace := strings.NewReplacer("ALL", strings.Join(ids[k], " mean) (")+" mean", "ONE", ids[k][3])
			answer := s.want(t, replace.Replace(request), replace.Replace(body), 200, "~").Body.String()
			for m, id := range ids[k] {
				answer = strings.ReplaceAll(answer, id, fmt.Sprint("metric ", m))
			}
			answers = append(answers, answer)
		}
		if answers[0] != answers[1] || len(answers[0]) < 40 {
			t.Errorf("%s %s:\n%s\nwithout the resampler\n%s", request, body, answers[1], answers[0])
		}
		if b, m := counting.batches.Swap(0), counting.measures.Swap(0); b != batches || m != measures {
			t.Errorf("%s %s: %d batches of %d measures, want %d of %d", request, body, b, m, batches, measures)
		}
	}
	f("GET /v1/metric/ONE/measures?refresh=true&granularity=60&resample=3600", "", 1, 200)
	f("GET /v1/metric/ONE/measures?granularity=60&resample=Y&tz=Europe/Berlin", "", 1, 200)
	f("GET /v1/metric/ONE/measures?granularity=60", "", 0, 0)
	f("GET /v1/aggregation/metric?metric=ONE&granularity=60&resample=600", "", 1, 200)
	f("POST /v1/aggregates", `{"operations":"(resample mean 600 (metric (ALL)))"}`, 1, 2400)
	f("POST /v1/aggregates", `{"operations":"(aggregate median (metric (ALL)))"}`, 0, 0)
	f("POST /v1/aggregates", `{"operations":"(aggregate median (resample mean 600 (metric (ALL))))"}`, 1, 2400)
	f("POST /v1/aggregates", `{"operations":"(aggregate mean (metric (ALL)))"}`, 0, 0)
	f("POST /v1/aggregates?exact=true", `{"operations":"(resample mean 600 (metric (ALL)))"}`, 0, 0)
}
