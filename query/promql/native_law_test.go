package promql_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	upstream "github.com/prometheus/prometheus/promql"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/promtest"
	"github.com/gnocco-db/gnocco/tests/seedtest"
)

// restarts are the histograms of a sender that begins anew at any time, many of them with few observations a bucket.
type restarts struct {
	custom, float, negative, gauge bool
	layouts                        bool    // schemas, thresholds and bounds change, at restarts and at other times
	every                          float64 // scrapes between restarts; 0: none
	busy                           float64 // observations between scrapes
	gaps                           bool    // scrapes that fail
	odd                            bool    // some sums are NaN or infinite
}

var restartBounds = [][]float64{{0.5, 1, 2.5, 5, 10}, {1, 5, 10}, {0.5, 1, 2.5, 5}}

func (c *restarts) scrapes(r *rand.Rand, start time.Time) (times []time.Time, all []*histogram.FloatHistogram) {
	var seen []float64 // observations since the last start
	schema, threshold, bounds, weight := int32(2), 0.001, restartBounds[0], 1.0
	if c.float {
		weight = 0.37
	}
	const scrapes = 300
	for i := range scrapes {
		restarted := c.every > 0 && r.Float64() < 1/c.every
		if restarted || c.gauge {
			seen = nil
		}
		if c.layouts && (r.IntN(80) == 0 || restarted && r.IntN(3) == 0) {
			schema, threshold, bounds = int32(r.IntN(3)), []float64{0.001, 0.25}[r.IntN(2)], restartBounds[r.IntN(3)]
		}
		rate := c.busy
		if restarted && r.IntN(4) == 0 { // the count may not fall
			rate *= float64(1 + r.IntN(20))
		}
		for n := r.ExpFloat64() * rate; n > 0.5; n-- {
			v := math.Exp(r.NormFloat64()*1.2 - 0.5)
			if r.IntN(8) == 0 {
				v = 0
			}
			if c.negative && r.IntN(2) == 0 {
				v = -v
			}
			seen = append(seen, v)
		}
		if c.gaps && r.IntN(30) < 10*(i/20%3) {
			continue
		}
		at := start.Add(time.Duration(i)*time.Minute + 30*time.Second)
		times = append(times, at)
		all = append(all, c.histogram(seen, schema, threshold, bounds, weight))
		if c.odd && r.IntN(12) == 0 {
			all[len(all)-1].Sum = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[r.IntN(3)]
		}
	}
	return times, all
}

func (c *restarts) histogram(seen []float64, schema int32, threshold float64, bounds []float64,
	weight float64) *histogram.FloatHistogram {
	h := &histogram.FloatHistogram{Schema: schema, ZeroThreshold: threshold}
	if c.gauge {
		h.CounterResetHint = histogram.GaugeType
	}
	if c.custom {
		h.Schema, h.ZeroThreshold, h.CustomValues = histogram.CustomBucketsSchema, 0, bounds
	}
	positive, negative := map[int32]float64{}, map[int32]float64{}
	for _, v := range seen {
		h.Count += weight
		h.Sum += v * weight
		switch {
		case c.custom:
			i, _ := slices.BinarySearch(bounds, v)
			positive[int32(i)] += weight
		case math.Abs(v) <= threshold:
			h.ZeroCount += weight
		case v > 0:
			positive[bucketOf(v, schema)] += weight
		default:
			negative[bucketOf(-v, schema)] += weight
		}
	}
	h.PositiveSpans, h.PositiveBuckets = spansOf(positive)
	h.NegativeSpans, h.NegativeBuckets = spansOf(negative)
	return h
}

// bucketOf returns the index of the exponential bucket of a positive value.
func bucketOf(v float64, schema int32) int32 {
	return int32(math.Ceil(math.Log2(v) * math.Exp2(float64(schema))))
}

func spansOf(buckets map[int32]float64) (spans []histogram.Span, counts []float64) {
	last := int32(0)
	for i, index := range slices.Sorted(maps.Keys(buckets)) {
		offset := index
		if i > 0 {
			offset -= last + 1
		}
		spans, counts = append(spans, histogram.Span{Offset: offset, Length: 1}), append(counts, buckets[index])
		last = index
	}
	return spans, counts
}

// Groups of native histograms give what Prometheus' engine gives of the histograms, or say that they do not.
func TestHistogramsOfGroupsAreExactOrSaySo(t *testing.T) {
	r := rand.New(rand.NewPCG(seedtest.Next(t), 53))
	tally := &tally{}
	kinds := []restarts{
		{every: 40, busy: 2}, {every: 40, busy: 20}, {every: 200, busy: 0.4}, {every: 7, busy: 1}, {busy: 1},
		{every: 40, busy: 2, custom: true}, {every: 100, busy: 30, custom: true}, {every: 40, busy: 2, float: true},
		{every: 60, busy: 3, negative: true}, {every: 60, busy: 5, layouts: true},
		{every: 60, busy: 5, layouts: true, custom: true}, {busy: 5, layouts: true}, {every: 60, busy: 2, gaps: true},
		{busy: 3, gauge: true}, {busy: 3, gauge: true, custom: true},
		{every: 60, busy: 3, odd: true}, {busy: 3, odd: true}, {busy: 3, gauge: true, odd: true},
	}
	for _, c := range kinds {
		tally.compare(t, r, &c)
	}
	t.Logf("%+v", *tally)
	if tally.equal < tally.said || tally.equal < 500 {
		t.Errorf("too few answers are exact: %+v", *tally)
	}
}

// tally counts answers: those that are like the truth without a warning, and with one; those that differ, with one.
type tally struct{ equal, careful, said int }

func (n *tally) compare(t *testing.T, r *rand.Rand, c *restarts) {
	s := newStore(t, promtest.Syntax)
	defer s.stop()
	policy := model.SeriesArchivePolicy()
	functions := []string{"sum_over_time", "first_over_time", "last_over_time", "count_over_time", "avg_over_time",
		"irate", "resets", "changes", "stddev_over_time"}
	if c.gauge {
		functions = append(functions, "delta")
	} else {
		policy = model.CounterArchivePolicy(policy)
		functions = append(functions, "rate", "increase", "increase", "rate")
	}
	fatal.If(t, s.Index.CreateArchivePolicy(t.Context(), policy))
	start := time.Unix(1_700_000_000, 0).Truncate(24 * time.Hour)
	times, all := c.scrapes(r, start)
	kept := promtest.Series{Labels: labels.FromStrings("__name__", "h")}
	for i, h := range all {
		kept.Samples = append(kept.Samples, promtest.Sample{MS: times[i].UnixMilli(), Histogram: h.Copy().Compact(0)})
	}
	engine := promtest.NewEngine(t)
	ids := map[string]uuid.UUID{}
	s.histograms(ids, policy.Name, "h", times, all)
	for _, age := range []time.Duration{0, 20 * 24 * time.Hour, 700 * 24 * time.Hour} {
		if s.now = start.Add(6*time.Hour + age); age > 0 {
			s.histograms(ids, policy.Name, "h", []time.Time{s.now}, all[len(all)-1:])
		}
		asked := seedtest.Rounds(5, 12)
		for range asked {
			at := start.Add(2*time.Hour + time.Duration(r.IntN(180))*time.Minute)
			length := []string{"1h", "2h", "30m", "3h", "10m"}[r.IntN(5)]
			if r.IntN(2) == 0 {
				at = at.Truncate(time.Hour)
			}
			for _, function := range functions {
				if function == "sum_over_time" && c.custom && c.layouts {
					continue // sums do not tell which bounds a histogram has
				}
				expr := fmt.Sprintf("%s(h[%s])", function, length)
				switch r.IntN(5) {
				case 0:
					expr = fmt.Sprintf("histogram_quantile(%.7f, %s)", r.Float64(), expr)
				case 1:
					expr = fmt.Sprintf("histogram_%s(%s)", []string{"count", "sum", "avg", "stddev"}[r.IntN(4)], expr)
				case 2:
					expr = fmt.Sprintf("histogram_fraction(0.2, 3, %s)", expr)
				}
				n.ask(s, engine, c, kept, expr, at)
			}
			if !c.gaps { // a group covers them
				n.ask(s, engine, c, kept, "h", at.Truncate(time.Hour))
			}
		}
	}
}

func (n *tally) ask(s *store, engine *upstream.Engine, c *restarts, kept promtest.Series, expr string, at time.Time) {
	q, err := engine.NewInstantQuery(s.t.Context(), promtest.Queryable(kept), nil, expr, at)
	fatal.If(s.t, err)
	got, want := s.instant(expr, at), q.Exec(s.t.Context())
	warnings, infos := got.Warnings.AsStrings("", 0, 0)
	said := slices.DeleteFunc(slices.Concat(warnings, infos), func(text string) bool {
		return strings.Contains(text, "is answered from") || strings.Contains(text, "mismatched custom") ||
			strings.Contains(text, "might not be")
	})
	switch place := differingVectors(got, want); {
	case place != "" && len(said) == 0:
		s.t.Errorf("%+v, %v old: %s at %v: %s", *c, s.now.Sub(at), expr, at.Unix(), place)
	case place != "":
		n.said++
	case len(said) > 0:
		n.careful++
	default:
		n.equal++
	}
}

// differingVectors returns how two vectors of one series differ by more than rounding, "" if they do not.
func differingVectors(got, want *upstream.Result) string {
	if got.Err != nil || want.Err != nil {
		return fmt.Sprint(got.Err, want.Err)
	}
	a, b := got.Value.(upstream.Vector), want.Value.(upstream.Vector)
	if len(a) != len(b) {
		return fmt.Sprintf("%v, want %v", a, b)
	}
	near := func(x, y float64) bool {
		return x == y || x != x && y != y || math.Abs(x-y) <= 1e-9*max(1, math.Abs(y))
	}
	for i := range a {
		x, y := a[i].H, b[i].H
		if x == nil && y == nil && near(a[i].F, b[i].F) {
			continue
		}
		if x == nil || y == nil || x.Schema != y.Schema || !near(x.Count, y.Count) || !near(x.Sum, y.Sum) ||
			!near(x.ZeroCount, y.ZeroCount) || x.ZeroThreshold != y.ZeroThreshold ||
			!slices.Equal(x.CustomValues, y.CustomValues) ||
			!maps.EqualFunc(bucketsOf(x), bucketsOf(y), near) {
			return fmt.Sprintf("%v, want %v", a, b)
		}
	}
	return ""
}

// bucketsOf returns the counts of buckets by their bounds, without those that are empty but for rounding.
func bucketsOf(h *histogram.FloatHistogram) map[string]float64 {
	all := map[string]float64{}
	for it := h.AllBucketIterator(); it.Next(); {
		if b := it.At(); math.Abs(b.Count) > 1e-9 {
			all[fmt.Sprint(b.Lower, b.Upper)] = b.Count
		}
	}
	return all
}
