package api_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/internal/budget"
)

// BenchmarkChanges compares an hour of minutes with the hour before and with the same hours of earlier days. Seven of
// ten metrics move every day.
func BenchmarkChanges(b *testing.B) {
	s := newServer(b, func(o *api.Options) {
		o.Budget = budget.New(2<<30, nil)
		o.Limits.NewSeries, o.KnownMetrics = 1<<30, 1<<20
	})
	s.create(b, "/v1/archive_policy", `{"name":"prometheus","back_window":10000,"aggregation_methods":["mean"],
		"definition":[{"granularity":60,"points":100000}]}`, "user", "admin")
	const metrics, day, window = 10_000, 1440, 60
	random := rand.New(rand.NewPCG(1, 2))
	for _, d := range []int{0, 1, 6, 7, 8} {
		for first := 0; first < metrics; first += 1000 {
			var samples []string
			for m := first; m < first+1000; m++ {
				for minute := range 2 * window {
					v := 100 + random.NormFloat64()
					if m%10 < 7 && minute >= window {
						v += 6
					}
					samples = append(samples, fmt.Sprintf("load %.3f %d host=h%d", v, 60_000*(d*day+minute+1), m))
				}
			}
			s.want(b, "POST /api/v1/write", remoteWrite(samples...), 204, "", asRemoteWrite...)
		}
	}
	start := 60 * (8*day + window + 1)
	ask := func(body string) {
		r := httptest.NewRequest(http.MethodPost, "/v1/changes", strings.NewReader(body))
		r.SetBasicAuth("admin", "")
		r.Header.Set("Content-Type", "application/json")
		s.serve(b, r, http.StatusOK)
	}
	body := fmt.Sprintf(`{"start":%d,"stop":%d}`, start, start+60*window)
	ask(body)
	began := cpuTime(b)
	b.ReportAllocs()
	for b.Loop() {
		ask(body)
	}
	b.ReportMetric(float64((cpuTime(b)-began).Microseconds())/float64(b.N)/metrics, "cpu-µs/metric")
}
