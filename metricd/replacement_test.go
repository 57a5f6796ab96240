package metricd_test

import (
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/seedtest"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// replace takes out measures between two seconds after start and puts others in their place.
func replace(t *testing.T, n *testnode.Node, id uuid.UUID, from, to int, with map[int]float64) model.Replaced {
	t.Helper()
	r := &model.Replacement{From: start + carbonara.Timestamp(from)*1e9, To: start + carbonara.Timestamp(to)*1e9}
	for second := range with {
		r.Timestamps = append(r.Timestamps, start+carbonara.Timestamp(second)*1e9)
	}
	slices.Sort(r.Timestamps)
	for _, at := range r.Timestamps {
		r.Values = append(r.Values, with[int((at-start)/1e9)])
	}
	preview := *r
	preview.DryRun = true
	said, err := n.Metricd.Replace(context.Background(), []uuid.UUID{id}, &preview)
	fatal.If(t, err)
	done, err := n.Metricd.Replace(context.Background(), []uuid.UUID{id}, r)
	fatal.If(t, err)
	if done.Failed > 0 {
		t.Fatal(done.Fault)
	}
	said.Lost, done.Lost = nil, nil
	if !reflect.DeepEqual(done, said) {
		t.Fatalf("a dry run said %+v, and it was %+v", said, done)
	}
	return done
}

// pair is two metrics: one from which measures are taken out, and one that never had them.
type pair struct {
	*testing.T
	n         *testnode.Node
	got, want uuid.UUID
	all       map[int]float64 // that the first has
	random    *rand.Rand
	integers  bool
}

func newPair(t *testing.T, n *testnode.Node, policy *model.ArchivePolicy, random *rand.Rand) *pair {
	return &pair{T: t, n: n, got: createMetric(t, n, policy), want: createMetric(t, n, policy),
		all: make(map[int]float64), random: random}
}

// post sends measures of seconds to the first, and those to the other that it is to have.
func (p *pair) post(seconds []int, has func(second int) bool) {
	p.Helper()
	one, other := make(map[int]float64), make(map[int]float64)
	for _, second := range seconds {
		v := p.random.NormFloat64() * 1e3
		if p.integers {
			v = math.Round(v)
		}
		one[second], p.all[second] = v, v
		if has(second) {
			other[second] = v
		}
	}
	post(p.T, p.n, p.got, one)
	if len(other) > 0 {
		post(p.T, p.n, p.want, other)
	}
}

func everything(int) bool { return true }

func outside(from, to int) func(int) bool {
	return func(second int) bool { return second < from || second >= to }
}

// seconds returns up to n random ones.
func (p *pair) seconds(from, to, n int) []int {
	taken := make(map[int]bool)
	var all []int
	for range n {
		if second := from + p.random.IntN(to-from); !taken[second] {
			taken[second] = true
			all = append(all, second)
		}
	}
	return all
}

// Where all measures are in the raw series, an archive is as if those that are taken out had never come, to the last
// bit. It goes on like that, with late measures, restarts and checkpoints.
func TestTakenOutOfRawMeasures(t *testing.T) {
	random := rand.New(rand.NewPCG(seedtest.Next(t), 97))
	methods := []string{"rate:mean", "rate:95pct", "rate:count", "increase", "resets"}
	for round := range 30 {
		n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1, GroupBytes: 1 << 20})
		granularities := []time.Duration{minute, 5 * minute, 7 * minute}[:1+round%3]
		p := newPair(t, n, newPolicy(t, "p", 1000, granularities,
			append(slices.Clone(everyMethod), methods[:random.IntN(len(methods)+1)]...)...), random)
		from := random.IntN(3600)
		to := from + 1 + random.IntN(4000)
		if round%5 == 0 {
			from = 0
		}
		for i := range 6 {
			p.post(p.seconds(i*600, i*600+1200, 1+random.IntN(60)), outside(from, to))
			switch random.IntN(4) {
			case 0:
				checkpoint(t, n)
			case 1:
				n.Restart(random.IntN(2) == 0)
			case 2:
				p.n.Read(p.got, minute)
			}
		}
		same := func() {
			t.Helper()
			requireSame(t, n, p.got, p.want, granularities...)
			got, want := rawOf(n, p.got), rawOf(n, p.want)
			if !maps.Equal(got, want) {
				t.Fatalf("raw measures %v, want %v", got, want)
			}
		}
		with := map[int]float64{}
		if round%2 == 1 {
			for _, second := range p.seconds(from, to, 1+random.IntN(30)) {
				with[second] = random.NormFloat64()
			}
			post(t, n, p.want, with)
		}
		if done := replace(t, n, p.got, from, to, with); done.LostGroups > 0 {
			t.Fatalf("%+v", done)
		}
		same()
		p.post(p.seconds(0, 6000, 40), everything)
		same()
		n.Restart(random.IntN(2) == 0)
		p.post(p.seconds(3000, 9000, 40), everything)
		checkpoint(t, n)
		same()
		n.Stop(context.Background())
	}
}

// Where raw measures are gone, groups that the range covers go, and wider ones are made of the narrower ones that are
// left. Of a narrowest group that the range covers in part nothing is left, and it is named.
func TestTakenOutOfGroups(t *testing.T) {
	random := rand.New(rand.NewPCG(seedtest.Next(t), 98))
	const span = 6 * 3600
	for round := range 40 {
		n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1})
		granularities := []time.Duration{minute, 5 * minute, time.Hour}
		methods := []string{"mean", "sum", "count", "min", "max", "std", "first", "last", "increase"}
		rates := round%4 == 3
		if rates {
			methods = append(methods, "rate:sum", "rate:max")
		}
		policy := newPolicy(t, "p", 0, granularities, methods...)
		p := newPair(t, n, policy, random)
		p.integers = true
		kept := int((model.KeepFrom(policy.Plan(), 0, start+(span-1)*1e9) - start) / 1e9)
		from := random.IntN(span - 1)
		to := from + 1 + random.IntN(span-from)
		if round%2 == 0 {
			from -= from % 60
			to += 60 - to%60
		}
		outer, lost := [2]int{from, to}, 0
		if from < kept {
			outer[0] -= from % 60
		}
		if to < kept {
			outer[1] += (60 - to%60) % 60
		}
		for at := 0; at < span; at += 3600 {
			p.post(p.seconds(at, at+3600, 100), outside(outer[0], outer[1]))
			if random.IntN(3) == 0 {
				n.Restart(random.IntN(2) == 0)
			}
		}
		p.post([]int{span - 1}, outside(outer[0], outer[1]))
		checkpoint(t, n)
		for second := range p.all {
			if second >= outer[0] && second < from || second >= to && second < outer[1] {
				lost++
			}
		}
		done := replace(t, n, p.got, from, to, nil)
		if (lost > 0) && done.LostGroups == 0 || done.LostGroups > 2 {
			t.Fatalf("range %d to %d: %d measures around it: %+v", from, to, lost, done)
		}
		requireSameButRates(t, n, p.got, p.want, rates, granularities...)
		p.post(p.seconds(span, span+9000, 100), everything)
		p.post(p.seconds(span+9000, span+12000, 100), everything)
		n.Restart(random.IntN(2) == 0)
		requireSameButRates(t, n, p.got, p.want, rates, granularities...)
		n.Stop(context.Background())
	}
}

// rawOf returns the raw measures of a metric.
func rawOf(n *testnode.Node, id uuid.UUID) map[carbonara.Timestamp]float64 {
	raw, all := n.Read(id, 0), make(map[carbonara.Timestamp]float64)
	for i, at := range raw.Starts {
		if v := raw.Values[0][i]; !carbonara.IsAbsent(v) {
			all[at] = v
		}
	}
	return all
}

// requireSameButRates is requireSame, except that second moments may be some units in the last place off, and
// differences of one group of a granularity unknown.
func requireSameButRates(t *testing.T, n *testnode.Node, got, want uuid.UUID, rates bool,
	granularities ...time.Duration) {
	t.Helper()
	for _, g := range granularities {
		a, b := n.Read(got, g), n.Read(want, g)
		if !slices.Equal(a.Starts, b.Starts) {
			t.Fatalf("granularity %v: %d groups, want %d", g, a.Len(), b.Len())
		}
		for i, column := range a.Columns {
			unknown := 0
			for row, v := range a.Values[i] {
				w := b.Values[i][row]
				switch {
				case rates && column.IsRate() && carbonara.IsAbsent(v):
					unknown++
				case column.Base() == carbonara.ColumnM2 && math.Abs(v-w) <= 1e-12*w:
				case math.Float64bits(v) != math.Float64bits(w):
					t.Fatalf("granularity %v, column %v, %v: %v, want %v", g, column, a.Starts[row], v, w)
				}
			}
			if unknown > 1 {
				t.Fatalf("granularity %v, column %v: %d groups are not known", g, column, unknown)
			}
		}
	}
}
