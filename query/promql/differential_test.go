package promql_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/prometheus/model/value"
	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/promql"
)

// Random expressions over series with gaps, resets, ends, NaN and infinities, in raw measures and groups, give the bits
// of Prometheus' engine: values, order, labels, warnings and errors. GNOCCO_EXPRESSIONS says how many.
func TestPipelinesAreLikeTheEngine(t *testing.T) {
	n := 3000
	if text := os.Getenv("GNOCCO_EXPRESSIONS"); text != "" {
		n, _ = strconv.Atoi(text)
	}
	if testing.Short() {
		n = 300
	}
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("GNOCCO_SEED"); text != "" {
		seed, _ = strconv.ParseUint(text, 10, 64)
	}
	t.Logf("GNOCCO_SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	s := newStore(t, parser.Options{})
	start := time.Unix(1_700_000_000, 0).Truncate(time.Hour)
	s.oddSeries(rng, start)
	s.now = start.Add(5 * time.Hour)
	g := &generator{rng}
	computed := 0
	for range n {
		expr := g.vector(3)
		at := start.Add(time.Duration(rng.IntN(5*3600_000)) * time.Millisecond)
		if rng.IntN(2) == 0 {
			at = at.Truncate(time.Minute)
		}
		var end time.Time
		var step time.Duration
		if rng.IntN(3) > 0 {
			step = []time.Duration{time.Second, 17 * time.Second, time.Minute, 10 * time.Minute, time.Hour}[rng.IntN(5)]
			end = at.Add(step * time.Duration(rng.IntN(40)))
		}
		run := func(engine *promql.Engine) (*upstream.Result, int) {
			q := &promql.Query{Expr: expr, Origins: true}
			var prepared upstream.Query
			var err error
			if step == 0 {
				prepared, err = engine.Instant(context.Background(), q, at)
			} else {
				prepared, err = engine.Range(context.Background(), q, at, end, step)
			}
			if err != nil {
				return &upstream.Result{Err: err}, 0
			}
			return prepared.Exec(context.Background()), promql.Pipelines(prepared)
		}
		got, pipelines := run(s.engine)
		if pipelines > 0 {
			computed++
		}
		what := fmt.Sprintf("%s\nfrom %d to %d each %v", expr, at.UnixMilli(), end.UnixMilli(), step)
		requireSame(t, what, got, func() *upstream.Result {
			result, _ := run(s.engine.Alone())
			return result
		})
		if t.Failed() {
			return
		}
	}
	if computed < n/2 {
		t.Errorf("%d of %d expressions have pipelines", computed, n)
	}
}

// requireSame compares a result with the engine's. At more than one time the engine's order of series is that of a map,
// and then so are its sums: an expression by which the engine differs from itself says nothing. A map of two keys has
// its rarer order once in eight times.
func requireSame(t testing.TB, what string, got *upstream.Result, engine func() *upstream.Result) {
	t.Helper()
	a, want := shown(got), shown(engine())
	for range 200 {
		if a == want {
			return
		}
		again := shown(engine())
		if again != want {
			return
		}
	}
	t.Errorf("%s\n%s\nwant\n%s", what, a, want)
}

// shown is everything of a result; of values, their bits. All NaNs are alike.
func shown(r *upstream.Result) string {
	var b strings.Builder
	if r.Err != nil {
		return "error: " + r.Err.Error()
	}
	float := func(v float64) {
		if math.IsNaN(v) && !value.IsStaleNaN(v) {
			b.WriteString(" NaN")
		} else {
			fmt.Fprintf(&b, " %x(%g)", math.Float64bits(v), v)
		}
	}
	switch v := r.Value.(type) {
	case upstream.Vector:
		fmt.Fprint(&b, "vector\n")
		for _, s := range v {
			fmt.Fprint(&b, s.Metric, s.T)
			if float(s.F); s.H != nil {
				fmt.Fprint(&b, s.H)
			}
			b.WriteByte('\n')
		}
	case upstream.Matrix:
		fmt.Fprint(&b, "matrix\n")
		for _, s := range v {
			fmt.Fprint(&b, s.Metric)
			for _, p := range s.Floats {
				fmt.Fprint(&b, " ", p.T)
				float(p.F)
			}
			for _, p := range s.Histograms {
				fmt.Fprint(&b, " ", p.T, p.H)
			}
			b.WriteByte('\n')
		}
	case upstream.Scalar:
		fmt.Fprint(&b, "scalar ", v.T)
		float(v.V)
	}
	warnings, infos := r.Warnings.AsStrings("", 0, 0)
	slices.Sort(warnings)
	slices.Sort(infos)
	fmt.Fprint(&b, "\n", strings.Join(warnings, "\n"), "\n", strings.Join(infos, "\n"))
	return b.String()
}

// oddSeries sends series of two names with labels, of four hours: pushed ones, and those of resources.
func (s *store) oddSeries(rng *rand.Rand, start time.Time) {
	s.t.Helper()
	methods := []string{"mean", "min", "max", "sum", "count", "last", "first", "std", "95pct"}
	s.kept("pushed", methods, 4, 10*time.Second, time.Hour, time.Minute, 24*time.Hour, 5*time.Minute, 48*time.Hour)
	s.kept("lean", []string{"mean"}, 2, time.Minute, 24*time.Hour)
	send := func(id uuid.UUID, kind int) {
		var times []time.Time
		var values []float64
		step, at, v := time.Duration(1+rng.IntN(30))*time.Second, start, rng.Float64()*100
		if rng.IntN(3) > 0 {
			at = at.Add(time.Duration(rng.IntN(1000)) * time.Millisecond)
		}
		for at.Before(start.Add(4 * time.Hour)) {
			switch {
			case rng.IntN(400) == 0:
				at = at.Add(time.Duration(rng.IntN(1800)) * time.Second)
			case kind == 1 && rng.IntN(50) == 0:
				v = 0
			case kind == 1:
				v += float64(rng.IntN(10))
			case kind == 2 && rng.IntN(20) == 0:
				v = []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 1e308, -1e308,
					math.Float64frombits(value.StaleNaN)}[rng.IntN(7)]
			default:
				v = math.Round(rng.NormFloat64()*1000) / 8
			}
			times, values = append(times, at), append(values, v)
			if kind == 3 && rng.IntN(20) == 0 { // two measures of one ms, mostly
				times, values = append(times, at.Add(200*time.Microsecond)), append(values, v+1)
			}
			at = at.Add(step)
		}
		s.measures(id, times, values)
	}
	p, err := s.Index.ArchivePolicy("pushed")
	if err != nil {
		s.t.Fatal(err)
	}
	for i := range 34 {
		text := model.AppendLabel(nil, model.LabelName, []string{"a", "b_total"}[i%2])
		text = model.AppendLabel(text, "host", fmt.Sprint("h", i/4))
		text = model.AppendLabel(text, "job", fmt.Sprint("j", i%3))
		kind := i % 4
		if i >= 24 {
			kind = 1
			text = model.AppendLabel(nil, model.LabelName, "a_bucket")
			text = model.AppendLabel(text, "host", fmt.Sprint("h", i%2))
			text = model.AppendLabel(text, "le", []string{"0.1", "1", "+Inf", "x", "10"}[(i-24)/2])
		}
		m := &model.Metric{ID: uuid.New(), ArchivePolicy: p, Creator: "me", Labels: model.Labels(text)}
		if err := s.Index.CreateMetrics(context.Background(), []*model.Metric{m}); err != nil {
			s.t.Fatal(err)
		}
		send(m.ID, kind)
		if i == 12 {
			if err := s.Metricd.Checkpoint(context.Background()); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	for i := range 6 {
		send(s.metric([]string{"pushed", "lean"}[i%2], fmt.Sprint("r", i), "cpu"), i%3)
	}
}

// generator makes expressions.
type generator struct{ *rand.Rand }

func (g *generator) of(list ...string) string { return list[g.IntN(len(list))] }

func (g *generator) number() string {
	return g.of("0", "1", "2.5", "-3", "100", "1e300", "NaN", "Inf", "0.1", "(-7)")
}

func (g *generator) selector() string {
	return g.of("a", "b_total", "cpu", `{__name__=~"a|b_total"}`, `a{host="h1"}`, `b_total{job!="j1"}`, `{host=~"h[0-2]"}`,
		`a{host="none"}`, `cpu{__granularity__="1m"}`, `cpu{__aggregation__="mean"}`, `a{__aggregation__=~"min|max"}`)
}

func (g *generator) offset() string {
	return g.of("", "", "", "", " offset 1m", " offset -90s", " offset 7s", " @ 1700003600", " @ end()")
}

func (g *generator) matrix(depth int) string {
	if depth > 0 && g.IntN(5) == 0 {
		return "(" + g.vector(depth-1) + ")" + g.of("[10m:1m]", "[5m:]", "[3m:7s]") + g.of("", " offset 1m")
	}
	return g.selector() + g.of("[1m]", "[5m]", "[17s]", "[2m]", "[1h]", "[10s]") + g.offset()
}

func (g *generator) grouping() string {
	return g.of("", "", " by (host)", " by (job)", " without (host)", " by (host, job)", " without (job)",
		" by (__name__)", " without ()")
}

// vector returns an expression of vectors.
func (g *generator) vector(depth int) string {
	if depth == 0 {
		return g.selector() + g.offset()
	}
	d := depth - 1
	switch g.IntN(16) {
	case 12:
		return "quantile" + g.grouping() + " (" + g.of("0.5", "0.9", "0", "1", "2", "NaN", "scalar(a)") + ", " + g.vector(d) + ")"
	case 13:
		op := g.of("+", "-", "*", "/", "%", "^", "atan2", "==", "!=", ">", "<", ">=", "<=", "> bool", "== bool")
		match := g.of("on (host) group_left ()", "on (job) group_left (host)", "ignoring (host) group_right ()",
			"on (host) group_right (job)", "ignoring (job, host) group_left ()", "on () group_left (job)")
		return "sum by (host, job) (" + g.vector(d) + ") " + op + " " + match + " max " + g.of("by (host)", "by (job)", "by (host, job)", "") +
			" (" + g.vector(d) + ")"
	case 0:
		return g.selector() + g.offset()
	case 1, 2, 3:
		f := g.of("rate", "increase", "delta", "irate", "idelta", "deriv", "changes", "resets", "avg_over_time",
			"sum_over_time", "min_over_time", "max_over_time", "count_over_time", "last_over_time", "first_over_time",
			"present_over_time", "stddev_over_time", "stdvar_over_time", "mad_over_time", "absent_over_time")
		return f + "(" + g.matrix(d) + ")"
	case 4:
		return g.of("quantile_over_time("+g.of("0.5", "0.95", "2", "-1")+", ", "quantile_over_time(scalar(a{host=\"h1\"}), ") +
			g.matrix(d) + ")"
	case 5, 6, 7:
		return g.of("sum", "avg", "min", "max", "count", "group", "stddev", "stdvar") + g.grouping() + " (" + g.vector(d) + ")"
	case 8:
		return g.of("topk", "bottomk", "limitk") + g.grouping() + " (" + g.of("1", "3", "0", "9", "2.5", "-1", "NaN", "scalar(a)") + ", " + g.vector(d) + ")"
	case 9:
		op := g.of("+", "-", "*", "/", "%", "^", "atan2", "==", "!=", ">", "<", ">=", "<=", "> bool", "== bool")
		switch g.IntN(3) {
		case 0:
			return "(" + g.vector(d) + ") " + op + " " + g.number()
		case 1:
			return g.number() + " " + op + " (" + g.vector(d) + ")"
		}
		return "(" + g.vector(d) + ") " + g.of(op, "and", "or", "unless") + g.of("", " on (host)", " ignoring (job)") +
			" (" + g.vector(d) + ")"
	case 10:
		v := g.vector(d)
		return g.of("abs("+v+")", "ceil("+v+")", "floor("+v+")", "round("+v+", 0.3)", "clamp("+v+", -1, 5)",
			"clamp_min("+v+", 2)", "clamp_max("+v+", 2)", "sqrt("+v+")", "ln("+v+")", "exp("+v+")", "clamp("+v+", 5, 1)",
			"round("+v+")", "log2("+v+")", "log10("+v+")", "absent("+v+")", "timestamp("+v+")", "sort("+v+")",
			"vector(scalar("+v+"))", "label_replace("+v+`, "x", "$1", "host", "(.*)")`, "sgn("+v+")")
	case 14:
		v := g.vector(d)
		return g.of("absent("+v+")", "label_replace("+v+`, "`+g.of("x", "job", "__name__")+`", "$1-", "`+g.of("host", "none")+`", "h([12])|")`,
			"label_join("+v+`, "`+g.of("x", "host")+`", "/", "job", "host")`, "label_replace("+v+`, "x", "", "host", "(")`,
			"count_values"+g.grouping()+`("`+g.of("value", "host", "__name__")+`", `+v+")",
			"histogram_quantile("+g.of("0.5", "0.9", "-1", "NaN", "scalar(a)")+", "+v+")",
			"absent_over_time("+g.matrix(d)+")")
	case 15:
		return "histogram_quantile(" + g.of("0.5", "0.99", "1", "0") + ", " + g.of("", "sum"+g.of("", " without (host)", " by (le)")) +
			"(" + g.of(`rate(a_bucket[5m])`, "a_bucket", `label_replace(`+g.vector(0)+`, "le", "$1", "host", "h(.*)")`) + "))"
	}
	return g.of("-", "+", "") + "(" + g.vector(d) + ")"
}
