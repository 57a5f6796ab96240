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
	upstream "github.com/prometheus/prometheus/promql"

	"github.com/gnocco-db/gnocco/query/promql"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/promtest"
	"github.com/gnocco-db/gnocco/tests/seedtest"
)

// The law of any age: an answer from groups is that of the measures, beyond what its warning says. The test knows the
// rule of doc.go on its own: from the measures alone it computes what each function says of any range, from measures
// and from groups of some width. Histories, times and ranges are random, with NaN, infinities, sums that cancel,
// measures on bounds and several measures of a ms.
func TestAnswersAtAnyAgeAndRange(t *testing.T) {
	rounds := seedtest.Rounds(8, 12)
	r := rand.New(rand.NewPCG(seedtest.Next(t), 7))
	for i := range rounds {
		t.Run(fmt.Sprint(i), func(t *testing.T) { newHistory(r).run(t, r) })
	}
}

// An archive policy that lacks any columns answers as the measures do, or says that it does not.
func TestAnswersOfAnyPolicyAtAnyAge(t *testing.T) {
	rounds := seedtest.Rounds(6, 12)
	r := rand.New(rand.NewPCG(seedtest.Next(t), 8))
	for i := range rounds {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			h := newHistory(r)
			h.without = []string{"last"}
			for _, method := range []string{"mean", "min", "max", "sum", "count", "std", "first", "sketch", "increase", "resets",
				"75pct"} {
				if r.IntN(3) == 0 {
					h.without = append(h.without, method)
				}
			}
			if r.IntN(4) == 0 {
				h.without[0] = "sketch"
			}
			h.run(t, r)
		})
	}
}

// moment is a measure.
type moment struct {
	at time.Time
	v  float64
}

func (m moment) ms() int64 { return m.at.UnixMilli() }

// history is a series, and the groups that it will be.
type history struct {
	width    time.Duration
	counter  bool
	resource bool
	onBounds bool
	start    time.Time
	measures []moment
	scale    float64  // of the values that the last quantile lies between
	without  []string // columns that the archive policy lacks
}

const (
	historyGroups = 12
	coarser       = 4  // groups in one
	finerGroups   = 10 // that are kept where all ages join
)

func newHistory(r *rand.Rand) *history {
	h := &history{width: []time.Duration{time.Second, 10 * time.Second, time.Minute, time.Hour}[r.IntN(4)],
		counter: r.IntN(2) == 0, resource: r.IntN(4) == 0, start: time.Unix(1_700_000_000, 0).Truncate(24 * time.Hour)}
	perGroup := []float64{0.7, 1.5, 4, 30}[r.IntN(4)]
	odd, huge := r.IntN(3) == 0, r.IntN(4) == 0
	crowded := r.IntN(2) == 0
	h.onBounds = r.IntN(4) == 0
	v := 0.0
	at := h.start
	for end := h.start.Add(historyGroups * h.width); ; {
		step := time.Duration(r.ExpFloat64() * float64(h.width) / perGroup)
		switch {
		case r.IntN(60) == 0:
			step += 2 * h.width // a hole
		case crowded && r.IntN(3) == 0:
			step = time.Duration(1+r.IntN(400)) * time.Microsecond
		}
		at = at.Add(step + time.Microsecond)
		if h.onBounds && r.IntN(4) == 0 {
			at = at.Truncate(h.width).Add(h.width)
		}
		if !at.Before(end) {
			return h
		}
		switch {
		case h.counter && r.IntN(20) == 0:
			v = float64(r.IntN(3))
		case h.counter:
			v += float64(r.IntN(100))
		case odd && r.IntN(12) == 0:
			v = []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1)}[r.IntN(4)]
		case huge && r.IntN(3) == 0:
			v = []float64{1e16, -1e16}[r.IntN(2)]
		default:
			v = math.Round(r.NormFloat64()*1000) / 8
		}
		h.measures = append(h.measures, moment{at, v})
	}
}

// ages are the same measures as they are kept: as measures of the archive, in heads, as groups, and as all of these,
// one after the other.
var ages = []string{"measures", "head", "groups", "coarser", "joined"}

// store stores the history at each age, as a series of that name.
func (h *history) store(t *testing.T) *store {
	s := newStore(t, promtest.Syntax)
	methods := []string{"mean", "min", "max", "sum", "count", "std", "first", "last", "sketch"}
	if h.counter {
		methods = append(methods, "increase", "resets")
	}
	if len(h.without) > 0 {
		methods = append(methods, "75pct")
	}
	methods = slices.DeleteFunc(methods, func(method string) bool { return slices.Contains(h.without, method) })
	if len(methods) == 0 {
		methods = []string{"mean"}
	}
	s.now = h.start.Add(40 * h.width)
	const all = 100 // groups before the open one
	s.kept("measures", methods, all, h.width, 0)
	s.kept("groups", methods, 0, h.width, 0)
	s.kept("coarser", methods, 0, h.width, 0, coarser*h.width, 0)
	s.kept("joined", methods, 0, h.width, finerGroups*h.width, coarser*h.width, 0)
	send := func(age string, id uuid.UUID) {
		var at []time.Time
		var values []float64
		for _, m := range h.measures {
			at, values = append(at, m.at), append(values, m.v)
		}
		s.measures(id, at, values)
		if age == "groups" || age == "coarser" {
			s.measures(id, []time.Time{s.now.Add(-h.width)}, []float64{0})
		}
	}
	for _, age := range ages {
		policy := age
		if age == "head" {
			policy = "measures"
			fatal.If(t, s.Metricd.Checkpoint(t.Context()))
		}
		create := func(policy, name string) uuid.UUID {
			if h.resource {
				return s.metric(policy, name, name)
			}
			return s.pushed(policy, name)
		}
		if age != "head" {
			send(age, create(policy, age))
		}
	}
	fatal.If(t, s.Metricd.Checkpoint(t.Context()))
	if h.resource {
		send("head", s.metric("measures", "head", "head"))
	} else {
		send("head", s.pushed("measures", "head"))
	}
	return s
}

// cover is a group, or a measure alone, and the time (begin, end] that it stands for, in ms.
type cover struct {
	begin, end int64
	measures   []moment
	isGroup    bool
}

// widthAt returns the width of the group that a measure is in at an age; 0: it is kept itself.
func (h *history) widthAt(age string, at time.Time) time.Duration {
	newest, wide := h.measures[len(h.measures)-1].at, coarser*h.width
	raw, fine := newest.Truncate(wide), newest.Truncate(h.width).Add((1-finerGroups)*h.width)
	if ceil := fine.Truncate(wide); ceil.Before(fine) {
		fine = ceil.Add(wide)
	}
	switch {
	case age == "groups" || age == "coarser":
		return h.width
	case age != "joined" || !at.Before(raw):
		return 0
	case at.Before(fine):
		return wide
	}
	return h.width
}

// covers returns what a function has of the history at an age. An exact one takes the group that ends where measures
// begin for a measure of that time.
func (h *history) covers(age string, ofCounter, exact bool, late int64) (all []cover) {
	for i := 0; i < len(h.measures); {
		m := h.measures[i]
		width := h.widthAt(age, m.at)
		joins := age == "joined" && m.at.Equal(h.measures[len(h.measures)-1].at.Truncate(coarser*h.width))
		if joins && width == 0 && exact && late == 0 {
			i++
			continue
		}
		if width == 0 {
			t := m.ms() + late
			all = append(all, cover{t - 1, t, h.measures[i : i+1], false})
			i++
			continue
		}
		start := m.at.Truncate(width)
		j := i
		for j < len(h.measures) && h.measures[j].at.Truncate(width).Equal(start) {
			j++
		}
		if of := h.measures[i:j]; ofCounter && len(of) <= 2 {
			for k := range of {
				t := max(of[k].ms()+late, start.UnixMilli()+1)
				all = append(all, cover{t - 1, t, of[k : k+1], false})
			}
		} else {
			all = append(all, cover{start.UnixMilli(), start.Add(width).UnixMilli(), of, true})
		}
		i = j
	}
	return all
}

func (c *cover) share(a, b int64) float64 {
	return float64(min(b, c.end)-max(a, c.begin)) / float64(c.end-c.begin)
}

// within returns what lies in or touches (a, b].
func within(all []cover, a, b int64) (some []cover) {
	for _, c := range all {
		if c.begin < b && c.end > a {
			some = append(some, c)
		}
	}
	return some
}

func flat(all []cover) (list []moment) {
	for _, c := range all {
		list = append(list, c.measures...)
	}
	return list
}

var none = math.Inf(-1) + math.Inf(1) // NaN, which stands for no answer where ok is false

// truth is what a function says of (a, b]; ok is false if it says nothing.
func (h *history) truth(function, age string, a, b int64) (v float64, ok bool) {
	rates := []string{"rate", "increase", "resets"}
	ofCounter := h.counter && (slices.Contains(rates, function) || function == "delta")
	late := int64(0)
	exact := h.counter || function != "delta" && !slices.Contains(rates, function)
	if h.resource && exact {
		late = 1 // the range is that of groups
	}
	all := h.covers(age, ofCounter, exact, late)
	some := within(all, a, b)
	if len(some) == 0 {
		return none, false
	}
	list := flat(some)
	var count, sum float64
	for _, c := range some {
		for _, m := range c.measures {
			count, sum = count+c.share(a, b), sum+c.share(a, b)*m.v
		}
	}
	switch function {
	case "count_over_time":
		return count, true
	case "sum_over_time":
		return sum, true
	case "avg_over_time":
		return sum / count, true
	case "stddev_over_time":
		squares := 0.0
		for _, c := range some {
			for _, m := range c.measures {
				squares += c.share(a, b) * (m.v - sum/count) * (m.v - sum/count)
			}
		}
		return math.Sqrt(squares / count), true
	case "min_over_time", "max_over_time":
		least, most := math.Inf(1), math.Inf(-1)
		for _, m := range list {
			if m.v == m.v {
				least, most = min(least, m.v), max(most, m.v)
			}
		}
		switch {
		case least > most:
			return math.NaN(), true
		case function == "min_over_time":
			return least, true
		}
		return most, true
	case "first_over_time":
		first := some[0]
		if first.begin < a && len(some) > 1 {
			first = some[1]
		}
		return first.measures[0].v, true
	case "last_over_time":
		last := some[len(some)-1]
		if last.end > b {
			i := slices.IndexFunc(all, func(c cover) bool { return c.begin == last.begin && c.end == last.end })
			if len(some) > 1 || i > 0 && all[i-1].end == last.begin {
				last = all[i-1]
			}
		}
		return last.measures[len(last.measures)-1].v, true
	case "quantile_over_time":
		var values []float64
		for _, m := range list {
			values = append(values, m.v)
		}
		slices.Sort(values) // NaN first, as in Prometheus
		rank := 0.75 * float64(len(values)-1)
		low := int(rank)
		high := min(low+1, len(values)-1)
		h.scale = max(math.Abs(values[low]), math.Abs(values[high]))
		if low == high || rank == float64(low) {
			return values[low], true
		}
		return values[low]*(1-rank+float64(low)) + values[high]*(rank-float64(low)), true
	}
	return interpolated(function, some, a, b, late)
}

// interpolated is a function of counters.
func interpolated(function string, some []cover, a, b, late int64) (float64, bool) {
	a0, a1, b0, b1 := a, a, b, b
	if c := some[0]; c.begin < a {
		a0, a1 = c.begin, c.end
	}
	if c := some[len(some)-1]; c.end > b {
		b0, b1 = c.begin, c.end
	}
	change := func(x, y int64) (float64, bool) {
		list := flat(within(some, x, y))
		if function == "resets" {
			n := 0.0
			for i := 1; i < len(list); i++ {
				if list[i].v < list[i-1].v {
					n++
				}
			}
			return n, true
		}
		return extrapolate(list, x-late, y-late, function != "delta")
	}
	whole, ok := change(a0, b1)
	if !ok {
		return none, false
	}
	corner := func(weight float64, x, y int64) float64 {
		sign := weight
		if x > y {
			x, y, sign = y, x, -weight
		}
		if x == y || weight == 0 {
			return 0
		}
		if v, ok := change(x, y); ok {
			return sign * v
		}
		return sign * whole * float64(y-x) / float64(b1-a0)
	}
	u, v := 0.0, 0.0
	if a1 > a0 {
		u = float64(a-a0) / float64(a1-a0)
	}
	if b1 > b0 {
		v = float64(b-b0) / float64(b1-b0)
	}
	out := corner((1-u)*(1-v), a0, b0) + corner((1-u)*v, a0, b1) + corner(u*(1-v), a1, b0) + corner(u*v, a1, b1)
	if function == "rate" {
		out /= float64(b-a) / 1000
	}
	return out, true
}

// extrapolate is Prometheus' increase of measures in (start, end], or the delta of a gauge.
func extrapolate(list []moment, start, end int64, counter bool) (float64, bool) {
	if len(list) < 2 {
		return none, false
	}
	first, last := list[0], list[len(list)-1]
	by := last.v - first.v
	for i := 1; counter && i < len(list); i++ {
		if list[i].v < list[i-1].v {
			by += list[i-1].v
		}
	}
	sampled := float64(last.ms()-first.ms()) / 1000
	if sampled == 0 {
		return by, true
	}
	between := sampled / float64(len(list)-1)
	before, after := float64(first.ms()-start)/1000, float64(end-last.ms())/1000
	if before >= between*1.1 {
		before = between / 2
	}
	if zero := sampled * (first.v / by); counter && by > 0 && first.v >= 0 && zero < before {
		before = zero
	}
	if after >= between*1.1 {
		after = between / 2
	}
	return by * (sampled + before + after) / sampled, true
}

// lawful are the functions whose answers the law gives. The others are only asked whether they warn.
var lawful = []string{"count_over_time", "sum_over_time", "avg_over_time", "stddev_over_time", "min_over_time",
	"max_over_time", "first_over_time", "last_over_time", "quantile_over_time", "rate", "increase", "resets", "delta"}

var others = []string{"irate", "idelta", "changes", "deriv", "mad_over_time", "stdvar_over_time"}

func (h *history) run(t *testing.T, r *rand.Rand) {
	s := h.store(t)
	defer s.stop()
	for range 30 {
		length := time.Duration(1+r.Int64N(int64(3*h.width/time.Millisecond))) * time.Millisecond
		at := h.start.Add(time.Duration(r.Int64N(int64(historyGroups*h.width/time.Millisecond))) * time.Millisecond)
		if r.IntN(3) == 0 {
			length, at = max(length.Truncate(h.width), h.width), at.Truncate(h.width)
		}
		for _, function := range slices.Concat(lawful, others) {
			h.ask(s, r, function, at, length)
			if t.Failed() {
				return
			}
		}
	}
}

// ask asks for a function at all ages, in one of several ways.
func (h *history) ask(s *store, r *rand.Rand, function string, at time.Time, length time.Duration) {
	answers := map[string]float64{}
	way, step := r.IntN(5), time.Duration(1+r.Int64N(int64(2*h.width/time.Millisecond)))*time.Millisecond
	query := func(age string) (string, time.Time) {
		ranged, when := fmt.Sprintf("%s[%dms]", age, length.Milliseconds()), at
		switch way {
		case 1:
			ranged, when = ranged+fmt.Sprintf(" @ %.3f", float64(at.UnixMilli())/1000), at.Add(time.Hour)
		case 2:
			ranged, when = ranged+" offset 1234567ms", at.Add(1234567*time.Millisecond)
		}
		if function == "quantile_over_time" {
			ranged = "0.75, " + ranged
		}
		expr := fmt.Sprintf("%s(%s)", function, ranged)
		if way == 3 {
			expr = fmt.Sprintf("last_over_time(%s[1ms:1ms])", expr)
		}
		return expr, when
	}
	a, b := at.Add(-length).UnixMilli(), at.UnixMilli()
	for _, age := range ages {
		expr, when := query(age)
		run := func(engine *promql.Engine) *upstream.Result {
			q, err := engine.Instant(s.t.Context(), &promql.Query{Expr: expr}, when)
			if way == 4 { // the last of some steps
				q, err = engine.Range(s.t.Context(), &promql.Query{Expr: expr}, when.Add(-4*step), when, step)
			}
			fatal.If(s.t, err)
			return q.Exec(s.t.Context())
		}
		got := run(s.engine)
		if got.Err != nil && len(h.without) > 0 { // it is said
			continue
		}
		fatal.If(s.t, got.Err)
		requireSame(s.t, expr, got, func() *upstream.Result { return run(s.engine.Alone()) })
		v, any := valueAt(got, when)
		if any {
			answers[age] = v
		}
		said := strings.Join(h.said(got), "\n")
		grouped := age != "measures" && age != "head"
		want, ok := h.truth(function, age, a, b)
		what := fmt.Sprintf("%+v: %s at %d", h.about(), expr, when.UnixMilli())
		notLawful := slices.Contains(others, function) || len(h.without) > 0 ||
			!h.counter && slices.Contains([]string{"rate", "increase", "resets", "delta"}, function) && grouped
		switch {
		case notLawful:
		case ok != any:
			s.t.Errorf("%s: answers %v (%t), want %v (%t)", what, v, any, want, ok)
		case ok && !h.alike(function, grouped, v, want) && !strings.Contains(said, "NaN"):
			s.t.Errorf("%s: %v, want %v; notes %s", what, v, want, said)
		}
		fromMeasures, known := answers["measures"]
		comparable := !h.onBound(a, b) && (age != "joined" || !h.onBounds)
		if said == "" && comparable && (known != any || any && !h.alike(function, grouped, v, fromMeasures)) {
			s.t.Errorf("%s: %v (%t) without a word, and from measures %v (%t)", what, v, any, fromMeasures, known)
		}
	}
}

// valueAt returns the value of the only series at a time.
func valueAt(r *upstream.Result, at time.Time) (v float64, ok bool) {
	switch all := r.Value.(type) {
	case upstream.Vector:
		if len(all) > 0 {
			return all[0].F, true
		}
	case upstream.Matrix:
		for _, series := range all {
			if last := series.Floats[len(series.Floats)-1]; last.T == at.UnixMilli() {
				return last.F, true
			}
		}
	}
	return none, false
}

// about is a history without its measures.
func (h *history) about() history {
	about := *h
	about.measures = nil
	return about
}

// onBound reports whether a measure lies on a bound of a range, where groups and measures differ.
func (h *history) onBound(a, b int64) bool {
	return slices.ContainsFunc(h.measures, func(m moment) bool { return m.ms() == a || m.ms() == b })
}

func (h *history) said(r *upstream.Result) []string {
	warnings, infos := r.Warnings.AsStrings("", 0, 0)
	infos = slices.DeleteFunc(infos, func(s string) bool {
		return strings.Contains(s, "might not be a counter") || strings.Contains(s, "within 1.1 %")
	})
	return slices.Concat(warnings, infos)
}

func (h *history) alike(function string, grouped bool, got, want float64) bool {
	if got == want || got != got && want != want {
		return true
	}
	most, total := 0.0, 0.0
	for _, m := range h.measures {
		if a := math.Abs(m.v); a <= math.MaxFloat64 {
			most, total = max(most, a), total+a
		}
	}
	switch off := math.Abs(got - want); function {
	case "quantile_over_time":
		return off <= 1e-9*max(1, math.Abs(want)) || grouped && off <= 0.0111*h.scale
	case "stddev_over_time", "stdvar_over_time":
		return off <= 1e-7*most || function == "stdvar_over_time" && off <= 1e-7*most*most
	case "sum_over_time", "avg_over_time":
		return off <= 1e-13*total // of the sums of groups
	default:
		return off <= 1e-9*max(1, math.Abs(want))
	}
}
