package api_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// searchPatterns are metrics of a fleet: value i of metric m.
var searchPatterns = []struct {
	name  string
	value func(rng *rand.Rand, m, i int) float64
}{
	// Each metric has a level of its own, and swings about it by the hour.
	{"levels", func(rng *rand.Rand, m, i int) float64 {
		return float64(1+m*7919%1000) * (1 + 0.3*math.Sin(float64(i+m)/600) + 0.05*rng.NormFloat64())
	}},
	// All have one level; here and there one shoots up for a while.
	{"spikes", func(rng *rand.Rand, m, i int) float64 {
		v := 20 + 5*rng.NormFloat64()
		if (i+m*104_729)%100_000 < 10 {
			v += 60
		}
		return v
	}},
	// The same noise everywhere: matches lie in any metric, a little above the rest.
	{"noise", func(rng *rand.Rand, m, i int) float64 { return 50 + 10*rng.NormFloat64() }},
}

// BenchmarkSearchValues searches a week of minutes of many metrics for means above the 99.99th percentile of all, and
// reads all or what may match.
func BenchmarkSearchValues(b *testing.B) {
	metrics, groups := 1000, 10_080
	if testing.Short() {
		metrics, groups = 10, 2000
	}
	for _, pattern := range searchPatterns {
		rng := rand.New(rand.NewPCG(1, 2))
		s := newServer(b, nil)
		s.create(b, "/v1/archive_policy", `{"name":"p","definition":[{"granularity":60}]}`, "user", "admin")
		var all []float64
		query := new(strings.Builder)
		for m := range metrics {
			id := uuid.MustParse(s.create(b, "/v1/metric", `{"archive_policy_name":"p"}`))
			fmt.Fprintf(query, "&metric_id=%s", id)
			measures := &model.Measures{Metrics: []uuid.UUID{id}, Offsets: []int{0, groups}}
			for i := range groups {
				measures.Timestamps = append(measures.Timestamps, carbonara.Timestamp(1_425_652_440+60*i)*1e9)
				measures.Values = append(measures.Values, math.Round(100*pattern.value(rng, m, i))/100)
			}
			all = append(all, measures.Values...)
			block := incoming.Block{Sack: model.Sack(id, sacks),
				Data: incoming.AppendBlock(nil, measures, []int{0}, time.Now())}
			check(b, s.options.Incoming.Append(b.Context(), []incoming.Block{block}))
		}
		processor := s.options.Archives.(testnode.Archives)
		check(b, processor.RefreshSacks(b.Context(), []int{0, 1, 2, 3}))
		check(b, processor.Compact(b.Context()))
		slices.Sort(all)
		threshold := all[len(all)-1-len(all)/10_000]
		predicate := fmt.Sprintf(`{">": %v}`, threshold)
		above, _ := slices.BinarySearch(all, math.Nextafter(threshold, math.Inf(1)))
		above = len(all) - above
		reading, valueFilter := &readingAll{Archives: s.options.Archives},
			&readingMatching{Archives: s.options.Archives}
		for _, c := range []struct {
			name    string
			handler http.Handler
			groups  *int
		}{{"all", s.handlerWith(b, reading), &reading.groups},
			{"matching", s.handlerWith(b, valueFilter), &valueFilter.groups}} {
			b.Run(fmt.Sprintf("metrics=%d/groups=%d/pattern=%s/read=%s", metrics, groups, pattern.name, c.name),
				func(b *testing.B) {
					*c.groups = 0
					for b.Loop() {
						r := httptest.NewRequest("POST", "/v1/search/metric?"+query.String()[1:],
							strings.NewReader(predicate))
						r.SetBasicAuth("foobar", "")
						r.Header.Set("Content-Type", "application/json")
						w := httptest.NewRecorder()
						c.handler.ServeHTTP(w, r)
						if found := strings.Count(w.Body.String(), ", 60.0, "); found != above {
							b.Fatalf("found %d of %d", found, above)
						}
					}
					b.ReportMetric(float64(*c.groups)/float64(b.N)/float64(len(all)), "read/group")
					b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*metrics), "µs/metric")
				})
		}
	}
}
