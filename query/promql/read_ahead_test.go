package promql_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
)

// Series of very different lengths are read ahead, whatever may be held at once: each has its own samples, and a query
// over them holds no more than it may.
func TestReadAhead(t *testing.T) {
	s := newStore(t, parser.Options{})
	s.policy("p", []string{"last", "sum", "count"}, time.Minute)
	start := time.Unix(1_700_000_000, 0).Truncate(time.Hour)
	const n = 300
	want, names := map[string]float64{}, map[string]string{}
	for i, id := range s.resources(n, "p", "x") {
		values := make([]float64, i%7*40) // none, to 240 minutes
		sum := 0.0
		for j := range values {
			values[j] = float64(i*1000 + j)
			sum += values[j]
		}
		if len(values) > 0 {
			s.post(id, start.Add(time.Second), time.Minute, values...)
			want[fmt.Sprint(i)] = sum
			names[uuid.NewSHA1(uuid.Nil, fmt.Append(nil, "x", i)).String()] = fmt.Sprint(i)
		}
	}
	end := start.Add(4 * time.Hour)
	for _, most := range []int{2000, 30_000, 4_000_000} {
		s.now = end
		s.holding(most)
		for _, expr := range []string{"sum_over_time(x[4h])", "avg_over_time(x[4h]) * count_over_time(x[4h])"} {
			r := s.over(expr, end, end, time.Minute)
			if r.Err != nil {
				t.Fatalf("%s with %d samples: %v", expr, most, r.Err)
			}
			matrix := r.Value.(upstream.Matrix)
			got := map[string]bool{}
			for _, series := range matrix {
				i := names[series.Metric.Get("resource_id")]
				got[i] = true
				if v := series.Floats[0].F; v < want[i]*(1-1e-12) || v > want[i]*(1+1e-12) || len(series.Floats) != 1 {
					t.Errorf("%s: series %s has %v, want %v", expr, i, series.Floats, want[i])
				}
			}
			if len(got) != len(want) {
				t.Errorf("%s with %d samples: %d series, want %d", expr, most, len(got), len(want))
			}
		}
	}
}
