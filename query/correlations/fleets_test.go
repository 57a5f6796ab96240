package correlations_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/correlate"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/correlations"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/seedtest"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// fleet is made-up series with a value each minute. Copies are of the family of their original.
type fleet struct {
	*rand.Rand
	counters []bool
	families []int
	series   [][]float64
}

const fleetRows = 240

func (f *fleet) add(family int, counter bool, values []float64) {
	f.families, f.counters = append(f.families, family), append(f.counters, counter)
	f.series = append(f.series, values)
}

// made returns as many values as rows of f, each by a function of its place.
func made(rows int, f func(i int) float64) []float64 {
	values := make([]float64, rows)
	for i := range values {
		values[i] = f(i)
	}
	return values
}

// walk is a random walk, with steps of one.
func (f *fleet) walk(rows int) []float64 {
	at := 100 * f.NormFloat64()
	return made(rows, func(int) float64 { at += f.NormFloat64(); return at })
}

// loads are rates: steady, in bursts, or by the time of day.
func (f *fleet) loads(rows int) []float64 {
	kind, level, burst := f.IntN(3), 1+99*f.Float64(), 0.0
	return made(rows, func(i int) float64 {
		switch kind {
		case 0:
			return math.Floor(level * f.Float64())
		case 1:
			if burst *= 0.5; f.IntN(10) == 0 {
				burst += level * f.ExpFloat64()
			}
			return math.Floor(burst)
		}
		return math.Floor(level * (1 + math.Sin(float64(i)/40)) * (0.5 + f.Float64()))
	})
}

// total is the counter of loads. At some of its values it begins again.
func total(loads []float64, reset int) []float64 {
	at := 0.0
	return made(len(loads), func(i int) float64 {
		if at += loads[i]; reset > 0 && i%reset == reset-1 {
			at = loads[i]
		}
		return at
	})
}

// copied returns a scaled copy that follows lag rows later, with noise of a twentieth of its changes.
func (f *fleet) copied(values []float64, lag int, scale float64) []float64 {
	noise := 0.0
	for i := 1; i < len(values); i++ {
		noise += (values[i] - values[i-1]) * (values[i] - values[i-1]) / float64(len(values)-1)
	}
	noise = math.Sqrt(noise) / 20
	return made(fleetRows, func(i int) float64 {
		return scale*(values[4+i-lag]+noise*f.NormFloat64()) + 7
	})
}

const lags = 4 // rows before the first that a copy may show

func newFleet(r *rand.Rand) *fleet {
	f := &fleet{Rand: r}
	family := 0
	alone := func(counter bool, values []float64) {
		f.add(family, counter, values)
		family++
	}
	for range 5 {
		alone(true, total(f.loads(fleetRows), 0))
	}
	alone(true, total(f.loads(fleetRows), 100))
	for range 4 {
		alone(false, f.walk(fleetRows))
	}
	for range 4 { // the same trend, and noise of their own
		alone(false, made(fleetRows, func(i int) float64 {
			return 3*float64(i) + 100*math.Sin(float64(i)/40) + 2*f.NormFloat64()
		}))
	}
	for range 3 { // counters of the same day
		alone(true, total(made(fleetRows, func(i int) float64 {
			return math.Floor(1000*(1.2+math.Sin(float64(i)/40)) + 20*f.NormFloat64())
		}), 0))
	}
	walk := f.walk(fleetRows + lags)
	f.add(family, false, walk[lags:])
	f.add(family, false, f.copied(walk, 0, 1))
	f.add(family, false, f.copied(walk, 0, -1-20*f.Float64()))
	f.add(family, false, f.copied(walk, 1+f.IntN(3), 1))
	family++
	loads := f.loads(fleetRows + lags)
	f.add(family, true, total(loads[lags:], 90))
	f.add(family, true, total(loads[lags:], 0))
	for _, lag := range []int{0, 1 + f.IntN(3)} {
		scale := 1 + 1000*f.Float64()
		copied := f.copied(loads, lag, scale)
		f.add(family, true, total(made(fleetRows, func(i int) float64 { return math.Max(0, copied[i]-7) }), 0))
	}
	return f
}

// Independent series are never redundant, whether they grow, walk or share a trend; copies with noise, scaled, lagged
// and counters with other resets are.
func TestRedundancyOfFleets(t *testing.T) {
	r := rand.New(rand.NewPCG(seedtest.Next(t), 61))
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 2, Workers: 2})
	defer n.Stop(context.Background())
	minute := time.Minute
	policy, err := model.NewArchivePolicy("fleet", 0, []model.DefinitionInput{{Granularity: &minute}},
		[]string{"mean", "count", "last", "increase"})
	fatal.If(t, err)
	plain, err := model.NewArchivePolicy("plain", 0, []model.DefinitionInput{{Granularity: &minute}}, []string{"mean"})
	fatal.If(t, err)
	fatal.If(t, n.Index.CreateArchivePolicy(t.Context(), policy))
	fatal.If(t, n.Index.CreateArchivePolicy(t.Context(), plain))
	s := &store{Node: n, t: t}
	jobs := s.jobs(correlations.Options{})
	copies, found, independent, byR, trends := 0, 0, 0, 0, 0
	for range 200 {
		f := newFleet(r)
		s.metrics = s.metrics[:0]
		m := &model.Measures{Offsets: []int{0}}
		for i, values := range f.series {
			metric := &model.Metric{ID: uuid.Must(uuid.NewV7()), ArchivePolicy: policy, Creator: "me"}
			if f.counters[i] && f.IntN(3) > 0 { // else values tell
				metric.Type = model.CounterType
			}
			if metric.Type == "" && f.families[i] != f.families[len(f.families)-1] {
				metric.ArchivePolicy = plain
			}
			fatal.If(t, n.Index.CreateMetric(t.Context(), metric))
			s.metrics = append(s.metrics, metric)
			m.Metrics = append(m.Metrics, metric.ID)
			for k, v := range values {
				m.Timestamps = append(m.Timestamps, first.Add(time.Duration(k)*time.Minute))
				m.Values = append(m.Values, v)
			}
			m.Offsets = append(m.Offsets, len(m.Values))
		}
		fatal.If(t, n.Post(m))
		fatal.If(t, n.Metricd.Refresh(t.Context(), m.Metrics))
		q := s.request()
		q.Lag = 3
		job := s.finished(jobs, q)
		same := func(p correlate.Pair) bool { return f.families[p.I] == f.families[p.J] }
		for _, p := range job.Result().Pairs {
			if !same(p) {
				independent++
				if p.Strength() >= 0.99 {
					byR++
				}
			}
		}
		groups, shared := job.Redundant(0.99)
		for _, g := range groups {
			for _, other := range g.Others {
				if f.families[g.Keep] != f.families[other.Column] {
					t.Errorf("columns %d and %d are called redundant: r %v, of changes %v", g.Keep, other.Column, other.R,
						other.Changes)
				}
				found++
			}
		}
		trends += len(shared)
		copies += 6
	}
	if found < copies*99/100 {
		t.Errorf("%d of %d copies are called redundant", found, copies)
	}
	if byR == 0 || trends == 0 {
		t.Error("no independent series correlate: the fleets are too easy")
	}
	t.Logf("%d of %d copies called redundant; of %d independent pairs %d have r above 0.99, %d share a trend", found,
		copies, independent, byR, trends)
}
