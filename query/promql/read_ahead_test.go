package promql_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/prometheus/model/labels"
	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
	"github.com/gnocco-db/gnocco/query/postings"
	"github.com/gnocco-db/gnocco/query/promql"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// Series of very different lengths are read ahead within any bound: each has its own samples, and a query holds no more
// than the bound.
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

// notedArchives notes which metrics are read.
type notedArchives struct {
	testnode.Archives
	read *sync.Map
}

func (a notedArchives) Prefetch(context.Context, []model.Read, *query.Staleness) (query.GroupReader, error) {
	return a, nil
}

func (a notedArchives) EachGroups(ctx context.Context, reads []model.Read, staleness *query.Staleness,
	dst *carbonara.Groups, use func(i int) error) error {
	return a.Archives.EachGroups(ctx, reads, staleness, dst, func(i int) error {
		a.read.Store(reads[i].Metric.ID, true)
		return use(i)
	})
}

// Once enough samples are held, nothing more is read before the engine asks for it. Each goroutine may have begun a
// series by then.
func TestReadAheadEnds(t *testing.T) {
	s := newStore(t, parser.Options{})
	s.policy("p", []string{"last"}, time.Minute)
	s.regular(s.resources(16, "p", "x"), s.now.Add(-time.Hour), time.Minute, 50)
	var read sync.Map
	engine := promql.New(promql.Options{Archives: notedArchives{testnode.Archives{Metricd: s.Metricd}, &read},
		Series: postings.New(s.Index, postings.Options{Bytes: 64 << 20}), Policies: s.Index.ArchivePolicies,
		Now: func() time.Time { return s.now }, MaxSamples: 100}) // 25 of these are read ahead
	_, source := engine.Prometheus(&promql.Query{Lookback: 5 * time.Minute})
	querier, err := source.Querier(0, 0)
	fatal.If(t, err)
	end := s.now.UnixMilli()
	set := querier.Select(t.Context(), false, &storage.SelectHints{Start: end - time.Hour.Milliseconds(), End: end},
		labels.MustNewMatcher(labels.MatchEqual, model.LabelName, "x"))
	read.Clear()
	if !set.Next() {
		t.Fatal(set.Err())
	}
	it := set.At().Iterator(nil)
	for range 50 {
		it.Next()
	}
	if err := it.Err(); err != nil || it.AtT() == 0 {
		t.Fatal("the first series:", err)
	}
	n := 0
	for range read.Range {
		n++
	}
	if n < 1 || n > 2 {
		t.Errorf("%d series are read for the first one", n)
	}
}
