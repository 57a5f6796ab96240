package promql_test

import (
	"fmt"
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

// histograms stores native histograms of one name; ids are their parts.
func (s *store) histograms(ids map[string]uuid.UUID, policy, name string, times []time.Time,
	all []*histogram.FloatHistogram) {
	s.t.Helper()
	at, values := map[string][]time.Time{}, map[string][]float64{}
	for i, h := range all {
		for part, v := range promtest.Parts(s.t, h) {
			at[part], values[part] = append(at[part], times[i]), append(values[part], v)
		}
	}
	p, err := s.Index.ArchivePolicy(policy)
	if err != nil {
		s.t.Fatal(err)
	}
	for part := range at {
		if _, ok := ids[part]; !ok {
			m := &model.Metric{ID: uuid.New(), ArchivePolicy: p, Creator: "me", Labels: model.Labels(
				model.AppendLabel(model.AppendLabel(nil, model.LabelHistogram, part), model.LabelName, name))}
			if err := s.Index.CreateMetrics(s.t.Context(), []*model.Metric{m}); err != nil {
				s.t.Fatal(err)
			}
			ids[part] = m.ID
		}
		s.measures(ids[part], at[part], values[part])
	}
}

// histogramCase is a native histogram that is scraped.
type histogramCase struct {
	gauge, custom, negative bool
	layouts                 bool // bounds change, with a reset if there are any
	hidden                  bool // resets show in few buckets
	reset                   int  // one in so many scrapes; 0: none
}

const nativeBuckets = 6

// scrapes returns the times and histograms of five hours. Buckets of counters begin one after the other. At a reset all
// fall, and one of them is empty until the hour ends.
func (c *histogramCase) scrapes(r *rand.Rand, start time.Time) (times []time.Time, all []*histogram.FloatHistogram) {
	const interval, hour = 15 * time.Second, 240
	counts, sum, zero := make([]float64, 2*nativeBuckets), 100.0, 0.0
	empty, before := -1, 0.0
	for i := range 5 * hour {
		reset := c.reset > 0 && i > 300 && (r.IntN(c.reset) == 0 || c.layouts && (i == 700 || i == 1000))
		if i%hour == 0 && empty >= 0 {
			counts[empty], empty = before+1, -1
		}
		if reset {
			sum, zero = sum/3, zero/2
			if empty < 0 && i%hour > 0 {
				empty = r.IntN(nativeBuckets)
				before, counts[empty] = counts[empty], 0
			}
		}
		for b := range counts {
			switch {
			case c.gauge:
				counts[b] = float64(1 + r.IntN(20))
			case b == empty:
			case reset && c.hidden && b > 0:
				counts[b] *= 2 * r.Float64()
			case reset && c.layouts && i == 700: // the sum of two buckets also falls
				counts[b] /= 1000
			case reset && counts[b] > 0:
				counts[b] *= 0.1 + 0.8*r.Float64()
			case i >= 60*b && r.IntN(3) == 0:
				counts[b] += float64(2 + r.IntN(20))
			}
		}
		if !reset {
			zero += float64(r.IntN(3))
			sum += r.Float64() * 40
		}
		if c.negative {
			sum -= 60
		}
		times = append(times, start.Add(time.Duration(i)*interval+interval/2))
		all = append(all, c.histogram(i, counts, zero, sum))
	}
	return times, all
}

// histogram returns the i-th histogram.
func (c *histogramCase) histogram(i int, counts []float64, zero, sum float64) *histogram.FloatHistogram {
	h := &histogram.FloatHistogram{Schema: 1, ZeroThreshold: 0.001, ZeroCount: zero, Sum: sum}
	h.PositiveSpans = []histogram.Span{{Offset: -2, Length: nativeBuckets / 2}, {Offset: 3, Length: nativeBuckets / 2}}
	h.PositiveBuckets = slices.Clone(counts[:nativeBuckets])
	if c.custom {
		h.Schema, h.CustomValues = histogram.CustomBucketsSchema, []float64{0.5, 1, 2.5, 5, 10}
		h.ZeroThreshold, h.ZeroCount, h.PositiveSpans = 0, 0, []histogram.Span{{Length: nativeBuckets}}
		if c.layouts && i >= 700 {
			h.CustomValues, h.PositiveSpans[0].Length = []float64{0.5, 1, 5, 10}, nativeBuckets-1
			h.PositiveBuckets[3] += h.PositiveBuckets[2]
			h.PositiveBuckets = slices.Delete(h.PositiveBuckets, 2, 3)
		}
	} else {
		if c.negative || c.reset == 0 { // else groups do not tell which falls of the sum are resets
			h.NegativeSpans = []histogram.Span{{Offset: 1, Length: nativeBuckets}}
			h.NegativeBuckets = slices.Clone(counts[nativeBuckets:])
		}
		if c.layouts && i >= 700 {
			h, _ = h.CopyToSchema(0)
		}
		if c.layouts && i >= 1000 {
			h.ZeroThreshold = 0.01
		}
	}
	if h.Count = h.ZeroCount; c.gauge {
		h.CounterResetHint = histogram.GaugeType
	}
	for _, buckets := range [][]float64{h.PositiveBuckets, h.NegativeBuckets} {
		for _, n := range buckets {
			h.Count += n
		}
	}
	return h
}

// Groups of native histograms give what Prometheus' engine gives of the histograms, at any age.
func TestGroupsOfHistogramsAreLikeMeasures(t *testing.T) {
	r := rand.New(rand.NewPCG(seedtest.Next(t), 103))
	for _, c := range []histogramCase{
		{}, {negative: true}, {reset: 200}, {reset: 30}, {custom: true}, {custom: true, reset: 100}, {gauge: true},
		{gauge: true, custom: true}, {layouts: true}, {layouts: true, reset: 200}, {layouts: true, custom: true},
		{layouts: true, custom: true, reset: 200}, {hidden: true, reset: 20},
	} {
		c.compare(t, r)
	}
}

func (c *histogramCase) compare(t *testing.T, r *rand.Rand) {
	s := newStore(t, promtest.Syntax)
	defer s.stop()
	policy := model.SeriesArchivePolicy()
	expressions := []string{"sum_over_time(h[1h])", "first_over_time(h[1h])", "last_over_time(h[1h])",
		"count_over_time(h[2h])", "histogram_avg(sum_over_time(h[2h]))"}
	if !c.gauge {
		policy = model.CounterArchivePolicy(policy)
		expressions = []string{"rate(h[1h])", "increase(h[2h])", "rate(h[1h] offset 1h)", "histogram_count(increase(h[1h]))",
			"histogram_sum(rate(h[2h]))", "histogram_avg(rate(h[1h]))", "histogram_quantile(0.9, rate(h[1h]))",
			"histogram_quantile(0.2, sum(increase(h[2h])))", "histogram_fraction(-1, 2, rate(h[1h]))",
			"count_over_time(h[1h])"}
		if !c.custom || !c.layouts { // sums do not tell which bounds a histogram has
			expressions = append(expressions, "sum_over_time(h[1h])")
		}
		if c.reset == 0 { // which the last histograms of groups show
			expressions = append(expressions, "increase(h[1h] anchored)")
		}
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
	first, last := start.Add(2*time.Hour), start.Add(5*time.Hour)
	ages := []time.Duration{0, 12 * time.Hour, 20 * 24 * time.Hour, 700 * 24 * time.Hour}
	if c.hidden { // only measures tell
		ages, expressions = ages[:1], []string{"rate(h[1h])", "increase(h[20m])"}
	}
	for _, age := range ages {
		if s.now = last.Add(age); age > 0 {
			s.histograms(ids, policy.Name, "h", []time.Time{s.now}, all[len(all)-1:])
		}
		here := slices.Clone(expressions)
		if !c.gauge && !c.hidden && age < 31*24*time.Hour {
			here = append(here, "increase(h[119m])") // from groups of a minute
		}
		if !c.gauge && !c.hidden && age < 24*time.Hour {
			here = append(here, "rate(h[7190s])") // of 10 s
		}
		for _, expr := range here {
			q, err := engine.NewRangeQuery(t.Context(), promtest.Queryable(kept), nil, expr, first, last, time.Hour)
			fatal.If(t, err)
			got, want := s.over(expr, first, last, time.Hour), q.Exec(t.Context())
			if place := differing(got, want, c.hidden); place != "" {
				t.Errorf("%+v, %v old: %s: %s", c, age, expr, place)
			}
			of, _ := got.Warnings.AsStrings("", 0, 0)
			others := slices.DeleteFunc(of, func(w string) bool {
				return c.gauge && strings.Contains(w, "gauge histograms of groups")
			})
			if len(others) > 0 && !c.hidden && !(c.layouts && c.custom) { // which are reconciled
				t.Errorf("%+v, %v old: %s warns: %v", c, age, expr, got.Warnings)
			}
		}
	}
}

// A range of groups of numbers and of histograms has a warning and no rate, as one of measures.
func TestGroupsOfNumbersAndHistograms(t *testing.T) {
	s := newStore(t, promtest.Syntax)
	s.kept("p", counterMethods, 0, time.Hour, 0)
	start := time.Unix(1_700_000_000, 0).Truncate(time.Hour)
	at := func(hour int) []time.Time {
		begins := start.Add(time.Duration(hour) * time.Hour)
		return []time.Time{begins, begins.Add(time.Minute)}
	}
	number := s.pushed("p", "h")
	for _, hour := range []int{0, 2, 4} {
		s.measures(number, at(hour), []float64{1, 4})
	}
	c := histogramCase{}
	_, all := c.scrapes(rand.New(rand.NewPCG(1, 103)), start)
	ids := map[string]uuid.UUID{}
	s.histograms(ids, "p", "h", at(1), all[:2])
	s.now = start.Add(10 * time.Hour)
	s.histograms(ids, "p", "h", []time.Time{s.now}, all[2:3])
	if v, ok := s.value("increase(h[1h])", start.Add(3*time.Hour)); !ok || v < 3 { // of numbers within a group
		t.Errorf("increase of numbers: %v", v)
	}
	for expr, want := range map[string]string{
		"rate(h[1h])": "", "rate(h[1h] offset 1h)": "", "rate(h[2h])": "mix of histograms and floats",
	} {
		r := s.instant(expr, start.Add(3*time.Hour))
		warnings, _ := r.Warnings.AsStrings(expr, 0, 0)
		if n := len(r.Value.(upstream.Vector)); want == "" && n != 1 || want != "" && n != 0 {
			t.Errorf("%s: %v", expr, r.Value)
		}
		if got := strings.Join(warnings, "\n"); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s warns: %q, want %q", expr, got, want)
		}
	}
}

// differing returns where matrices of one series differ by more than rounding, perhaps in the last histogram only, ""
// for nowhere.
func differing(got, want *upstream.Result, last bool) string {
	if got.Err != nil || want.Err != nil {
		return fmt.Sprint(got.Err, want.Err)
	}
	a, b := got.Value.(upstream.Matrix), want.Value.(upstream.Matrix)
	if len(a) != 1 || len(b) != 1 || len(a[0].Floats)+len(a[0].Histograms) != 4 {
		return fmt.Sprintf("%v, want %v", a, b)
	}
	near := func(x, y float64) bool { return math.Abs(x-y) <= 1e-9*max(math.Abs(x), math.Abs(y)) }
	gauge := func(h *histogram.FloatHistogram) bool { return h.CounterResetHint == histogram.GaugeType }
	if !slices.EqualFunc(a[0].Floats, b[0].Floats, func(x, y upstream.FPoint) bool {
		return x.T == y.T && near(x.F, y.F)
	}) {
		return fmt.Sprintf("%v, want %v", a, b)
	}
	if len(a[0].Histograms) != len(b[0].Histograms) {
		return fmt.Sprintf("%v, want %v", a, b)
	}
	for i, x := range a[0].Histograms {
		if last && i < len(a[0].Histograms)-1 {
			continue
		}
		y := b[0].Histograms[i]
		h, w := x.H.Copy().Compact(0), y.H.Copy().Compact(0)
		if x.T != y.T || gauge(h) != gauge(w) || h.Schema != w.Schema || h.ZeroThreshold != w.ZeroThreshold ||
			!near(h.Count, w.Count) ||
			!near(h.Sum, w.Sum) || !near(h.ZeroCount, w.ZeroCount) || !slices.Equal(h.CustomValues, w.CustomValues) ||
			!slices.Equal(h.PositiveSpans, w.PositiveSpans) || !slices.Equal(h.NegativeSpans, w.NegativeSpans) ||
			!slices.EqualFunc(h.PositiveBuckets, w.PositiveBuckets, near) ||
			!slices.EqualFunc(h.NegativeBuckets, w.NegativeBuckets, near) {
			return fmt.Sprintf("at %v: %v, want %v", x.T, h, w)
		}
	}
	return ""
}

// Where a bucket falls while the count grows, as in Prometheus all of the histogram began anew. A group of two shows
// that, wider ones say that they do not.
func TestResetsOfBuckets(t *testing.T) {
	s := newStore(t, promtest.Syntax)
	policy := model.CounterArchivePolicy(model.SeriesArchivePolicy())
	fatal.If(t, s.Index.CreateArchivePolicy(t.Context(), policy))
	start := time.Unix(1_700_000_000, 0).Truncate(24 * time.Hour)
	var all []*histogram.FloatHistogram
	var times []time.Time
	for i, buckets := range [][]float64{{6, 4}, {3, 9}, {4, 9}} {
		all = append(all, &histogram.FloatHistogram{Schema: 3, ZeroThreshold: 0.001, Count: buckets[0] + buckets[1],
			PositiveSpans: []histogram.Span{{Offset: 1, Length: 2}}, PositiveBuckets: buckets})
		times = append(times, start.Add(time.Duration(i*10+10)*time.Minute))
	}
	ids := map[string]uuid.UUID{}
	s.histograms(ids, policy.Name, "h", times[:2], all[:2])
	at := start.Add(time.Hour)
	f := func(expr string, want float64) {
		t.Helper()
		if got, ok := s.value(expr, at); !ok || math.Abs(got-want) > 1e-9 {
			t.Errorf("%v old: %s: %v (%t), want %v", s.now.Sub(at), expr, got, ok, want)
		}
	}
	whole := `histogram_count(increase(h[1h])) / scalar(increase(h{__histogram__="count"}[1h]))`
	warns := func(expr, want string) {
		t.Helper()
		warnings, _ := s.instant(expr, at).Warnings.AsStrings("", 0, 0)
		if text := strings.Join(warnings, "\n"); !strings.Contains(text, want) || want == "" && text != "" {
			t.Errorf("%v old: %s warns %q, want %q", s.now.Sub(at), expr, text, want)
		}
	}
	s.now = at
	f("resets(h[1h])", 1)
	f(whole+" > bool 5", 1) // 12 since the reset, where the count grew by 2
	s.now = at.Add(700 * 24 * time.Hour)
	s.histograms(ids, policy.Name, "h", []time.Time{s.now}, all[2:])
	f(whole+" > bool 5", 1)
	warns("increase(h[1h])", "")
	f(`resets(h{__histogram__="count"}[1h])`, 0)
	f(`resets(h{__histogram__="positive:3:1"}[1h])`, 1)
	f(`resets(h{__histogram__="positive:3:2"}[1h])`, 0)
	f(`sum_over_time(h{__histogram__="positive:3:1",__aggregation__="increase"}[1h])`, 3)
	f(`sum_over_time(h{__histogram__="positive:3:2",__aggregation__="increase"}[1h])`, 5)
	warns("resets(h[1h])", "resets")
	s.histograms(map[string]uuid.UUID{}, policy.Name, "g", append(times, s.now), append(all, all[2]))
	warns("increase(g[1h])", "began anew")
}

// Buckets that are not seen to fall increase by the rest of the count: exactly if there is one, or if all were as they
// are now; else about, with a warning.
func TestUnseenFallsOfBuckets(t *testing.T) {
	s := newStore(t, promtest.Syntax)
	policy := model.CounterArchivePolicy(model.SeriesArchivePolicy())
	fatal.If(t, s.Index.CreateArchivePolicy(t.Context(), policy))
	start := time.Unix(1_700_000_000, 0).Truncate(24 * time.Hour)
	at := start.Add(time.Hour)
	s.now = at.Add(700 * 24 * time.Hour)
	f := func(name string, want []float64, off float64, scrapes ...[]float64) {
		t.Helper()
		var times []time.Time
		var all []*histogram.FloatHistogram
		for i, buckets := range append(scrapes, scrapes[len(scrapes)-1]) {
			h := &histogram.FloatHistogram{Schema: 0, ZeroThreshold: 0.001,
				PositiveSpans: []histogram.Span{{Offset: 1, Length: uint32(len(buckets))}}, PositiveBuckets: buckets}
			for _, n := range buckets {
				h.Count, h.Sum = h.Count+n, h.Sum+n
			}
			times, all = append(times, start.Add(time.Duration(1+i*59/(len(scrapes)))*time.Minute)), append(all, h)
		}
		times[len(scrapes)] = s.now
		s.histograms(map[string]uuid.UUID{}, policy.Name, name, times, all)
		r := s.instant("increase("+name+"[1h])", at)
		fatal.If(t, r.Err)
		got := r.Value.(upstream.Vector)[0].H
		total := 0.0
		for _, n := range want {
			total += n
		}
		for i, n := range want {
			share := 0.0
			for it := got.PositiveBucketIterator(); it.Next(); {
				if b := it.At(); b.Index == int32(i+1) {
					share = b.Count / got.Count
				}
			}
			if math.Abs(share*total-n) > off+1e-9 {
				t.Errorf("%s: bucket %d increases by %v, want %v", name, i, share*total, n)
			}
		}
		if exact := off == 0; exact != (len(s.warnings(r)) == 0) {
			t.Errorf("%s warns: %v", name, r.Warnings)
		}
	}
	f("one", []float64{8, 2}, 0, []float64{9, 1}, []float64{5, 0}, []float64{8, 2}, []float64{8, 2})
	f("same", []float64{8, 1, 2}, 0, []float64{9, 1, 2}, []float64{5, 0, 0}, []float64{8, 1, 2})
	f("both", []float64{8, 4, 3}, 0.5, []float64{9, 1, 2}, []float64{9, 2, 2}, []float64{5, 0, 0}, []float64{8, 3, 3})
	f("hidden", []float64{8, 4}, 3, []float64{2, 1}, []float64{1, 4}, []float64{8, 4})
}

func (s *store) warnings(r *upstream.Result) []string {
	warnings, _ := r.Warnings.AsStrings("", 0, 0)
	return warnings
}
