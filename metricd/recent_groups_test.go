package metricd_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// A server answers repeated reads of a metric, in any state of operands and heads. The answers equal, bit for bit,
// those of a server without recent groups that reads compacted archives.
func TestRecentGroupsAreThoseOfTheArchive(t *testing.T) {
	for seed := range uint64(12) {
		compareRecent(t, seed)
	}
}

// lossyValues add up to sums that a group continues only with the parts that its additions rounded away.
var lossyValues = []float64{1e16, -1e16, 1, 0.1}

func compareRecent(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(44, seed))
	ctx := context.Background()
	minute, five := time.Minute, 5*time.Minute
	methods := [][]string{{"mean", "min", "max", "sum", "std", "count"}, {"mean", "95pct", "last"},
		{"rate:mean", "rate:std", "first"}, {"max"}}[seed%4]
	definition := []model.DefinitionInput{{Granularity: &minute}, {Granularity: &five}}
	if rng.IntN(2) == 0 {
		hours := 12 * time.Hour
		definition[0].Timespan = &hours
	}
	policy, err := model.NewArchivePolicy("p", rng.IntN(4)*20, definition, methods)
	fatal.If(t, err)
	ids := []uuid.UUID{{15: 1}, {15: 2}, {15: 3}}
	open := func(bytes int64, batch int) *testnode.Node {
		n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1, GroupBytes: bytes,
			BatchMeasures: batch})
		fatal.If(t, n.Index.CreateArchivePolicy(ctx, policy))
		for _, id := range ids {
			fatal.If(t, n.Index.CreateMetric(ctx, &model.Metric{ID: id, ArchivePolicy: policy,
				Creator: "admin"}))
		}
		return n
	}
	limit := int64(1 << 20)
	if rng.IntN(4) == 0 {
		limit = 20_000 // some hundred groups
	}
	recent, plain := open(limit, 1+rng.IntN(100)), open(-1, 0)
	defer plain.Stop(ctx)
	defer func() { recent.Stop(ctx) }()
	now, gap := 0, 120>>(seed/4*2) // seconds
	read := func(n *testnode.Node, id uuid.UUID, asked model.Read) *carbonara.Groups {
		fatal.If(t, n.Metricd.Refresh(ctx, []uuid.UUID{id}))
		if asked.Metric, err = n.Index.Metric(id); err != nil {
			t.Fatal(err)
		}
		var got carbonara.Groups
		fatal.If(t, n.Metricd.Groups(ctx, asked, &got))
		return &got
	}
	for step := range 200 {
		id := ids[rng.IntN(len(ids))]
		switch rng.IntN(12) {
		case 0:
			checkpoint(t, recent)
			fatal.If(t, plain.Metricd.Compact(ctx))
		case 1:
			if rng.IntN(4) == 0 {
				recent.Restart(rng.IntN(2) == 0)
			}
		default:
			m := &model.Measures{Metrics: []uuid.UUID{id}}
			for range 1 + rng.IntN(1+rng.IntN(40)) {
				at := now
				if rng.IntN(20) == 0 {
					at -= rng.IntN(1 + rng.IntN(4000)) // late, or again
				} else {
					now += rng.IntN(1 + rng.IntN(gap))
				}
				m.Timestamps = append(m.Timestamps, start+carbonara.Timestamp(max(at, 0))*1e9)
				m.Values = append(m.Values, []float64{rng.NormFloat64(), float64(rng.IntN(100)) / 10,
					lossyValues[rng.IntN(len(lossyValues))], math.NaN()}[min(3, rng.IntN(40)/13)])
			}
			m.Offsets = []int{0, len(m.Values)}
			for _, n := range []*testnode.Node{recent, plain} {
				fatal.If(t, n.Post(m))
			}
		}
		asked := model.Read{Granularity: minute, To: carbonara.MaxTimestamp}
		if rng.IntN(3) == 0 {
			asked.Granularity = five
		}
		for i, c := range policy.Plan().Columns {
			if i == 0 || rng.IntN(2) == 0 {
				asked.Columns = append(asked.Columns, c)
			}
		}
		switch rng.IntN(5) {
		case 0:
		case 1:
			asked.From = start + carbonara.Timestamp(rng.IntN(now+1))*1e9
			asked.To = asked.From + carbonara.Timestamp(rng.IntN(7200))*1e9
		default:
			asked.From = start + carbonara.Timestamp(max(0, now-rng.IntN(7200)))*1e9
		}
		if rng.IntN(4) == 0 {
			id = ids[rng.IntN(len(ids))]
		}
		if rng.IntN(3) == 0 { // raw measures; sometimes only which ones there are
			asked.Granularity, asked.Columns = 0, []carbonara.Column{carbonara.ColumnLast}
			if rng.IntN(4) == 0 {
				asked.From, asked.To = 0, 0
			}
		}
		want := read(plain, id, asked)
		for range 1 + rng.IntN(2) {
			if got := read(recent, id, asked); !sameGroups(got, want) {
				t.Fatalf("seed %d, step %d, %v, %v: got %v, want %v", seed, step, asked.Granularity, methods, got, want)
			}
		}
	}
}

// An open group whose sums lost their low parts, as those that were read from the archive, is not continued, however
// requests, checkpoints, starts and reads follow one another.
func TestRecentSumsKeepWhatAdditionsRoundAway(t *testing.T) {
	ctx, day := context.Background(), 24*time.Hour
	policy, err := model.NewArchivePolicy("p", 0, []model.DefinitionInput{{Granularity: &day}},
		[]string{"sum", "std", "rate:sum"})
	fatal.If(t, err)
	values := []float64{1e16, 1, -1e16, 1, 0.1, 0.1, 1e16, 0.1, -1e16, 0.1}
	between := []func(*testnode.Node){
		func(*testnode.Node) {},
		func(n *testnode.Node) { checkpoint(t, n) },
		func(n *testnode.Node) { n.Restart(false) },
		func(n *testnode.Node) { n.Restart(true) },
	}
	refresh := func(n *testnode.Node) {
		fatal.If(t, n.Metricd.Refresh(ctx, []uuid.UUID{{15: 1}}))
	}
	for round := range len(between) * len(values) {
		n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1, GroupBytes: 1 << 20})
		metric := &model.Metric{ID: uuid.UUID{15: 1}, ArchivePolicy: policy, Creator: "admin"}
		fatal.If(t, n.Index.CreateArchivePolicy(ctx, policy))
		fatal.If(t, n.Index.CreateMetric(ctx, metric))
		batch := carbonara.Batch{Series: []carbonara.Series{{Plan: policy.Plan()}}}
		for i, v := range values {
			at := start.Floor(day) + carbonara.Timestamp(i)*1e9
			batch.Timestamps, batch.Values = append(batch.Timestamps, at), append(batch.Values, v)
			batch.Series[0].To = i + 1
			fatal.If(t, n.Post(&model.Measures{Metrics: []uuid.UUID{metric.ID}, Offsets: []int{0, 1},
				Timestamps: []carbonara.Timestamp{at}, Values: []float64{v}}))
			refresh(n)
			if i == round/len(between) {
				between[round%len(between)](n)
				refresh(n)
			}
			if i < round/len(between) && round/len(between)%2 == 0 {
				continue // the first read finds what the checkpoint stored
			}
			var want carbonara.Result
			fatal.If(t, carbonara.NewCPUResampler(1).Resample(ctx, &batch, &want))
			for read := range 2 { // the first one only notes that the metric is read
				var got carbonara.Groups
				asked := model.Read{Metric: metric, Granularity: day, To: carbonara.MaxTimestamp,
					Columns: policy.Plan().Columns}
				fatal.If(t, n.Metricd.Groups(ctx, asked, &got))
				if !sameGroups(&got, want.Groups(0, 0)) {
					t.Fatalf("round %d, after %v, read %d: got %v, want %v", round, values[:i+1], read, got,
						want.Groups(0, 0))
				}
			}
		}
		n.Stop(ctx)
	}
}

// sameGroups reports whether all values are the same, bit for bit.
func sameGroups(a, b *carbonara.Groups) bool {
	if a.Len() != b.Len() || len(a.Columns) != len(b.Columns) || a.Raw != b.Raw {
		return false
	}
	for i := range a.Starts {
		if a.Starts[i] != b.Starts[i] {
			return false
		}
		for c := range a.Values {
			if math.Float64bits(a.Values[c][i]) != math.Float64bits(b.Values[c][i]) {
				return false
			}
		}
	}
	return true
}

// Raw measures are kept decoded once they are many, or a checkpoint has stored some.
func TestRecentMeasuresAreMany(t *testing.T) {
	for _, many := range []bool{false, true} {
		testRecentMeasures(t, many)
	}
}

func testRecentMeasures(t *testing.T, many bool) {
	t.Helper()
	ctx, minute := context.Background(), time.Minute
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1, GroupBytes: 1 << 20})
	policy, err := model.NewArchivePolicy("p", 0, []model.DefinitionInput{{Granularity: &minute}}, nil)
	fatal.If(t, err)
	metric := &model.Metric{ID: uuid.UUID{15: 1}, ArchivePolicy: policy, Creator: "admin"}
	fatal.If(t, errors.Join(n.Index.CreateArchivePolicy(ctx, policy), n.Index.CreateMetric(ctx, metric),
		n.Post(&model.Measures{Metrics: []uuid.UUID{metric.ID}, Offsets: []int{0, 1},
			Timestamps: []carbonara.Timestamp{start}, Values: []float64{1}}),
		n.Metricd.Refresh(ctx, []uuid.UUID{metric.ID})))
	f := func(kept bool) {
		t.Helper()
		for range 3 {
			var got carbonara.Groups
			read := model.Read{Metric: metric, Columns: []carbonara.Column{carbonara.ColumnLast}, From: start,
				To: start + 1}
			if err := n.Metricd.Groups(ctx, read, &got); err != nil || !slices.Contains(got.Starts, start) {
				t.Fatal(got, err)
			}
		}
		if bytes := n.Value("gnocco_metricd_recent_groups_bytes"); bytes > 0 != kept {
			t.Errorf("%v bytes of recent measures", bytes)
		}
	}
	f(false)
	if many {
		m := &model.Measures{Metrics: []uuid.UUID{metric.ID}, Offsets: []int{0, 100}, Values: make([]float64, 100)}
		for i := range 100 {
			m.Timestamps = append(m.Timestamps, start+carbonara.Timestamp(i)*1e6)
		}
		fatal.If(t, errors.Join(n.Post(m), n.Metricd.Refresh(ctx, []uuid.UUID{metric.ID})))
	} else {
		checkpoint(t, n)
	}
	f(true)
	n.Stop(ctx)
}

// Recent groups have the columns that reads ask for, and not those of the whole archive policy.
func TestRecentGroupsHaveTheColumnsThatAreRead(t *testing.T) {
	ctx, minute := context.Background(), time.Minute
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1, GroupBytes: 1 << 20})
	policy, err := model.NewArchivePolicy("p", 0, []model.DefinitionInput{{Granularity: &minute}},
		[]string{"mean", "min", "max", "std", "median", "95pct", "first", "last"})
	fatal.If(t, err)
	const groups = 1000
	metric := &model.Metric{ID: uuid.UUID{15: 1}, ArchivePolicy: policy, Creator: "admin"}
	m := &model.Measures{Metrics: []uuid.UUID{metric.ID}, Offsets: []int{0, groups}, Values: make([]float64, groups)}
	for i := range groups {
		m.Timestamps = append(m.Timestamps, start+carbonara.Timestamp(i)*carbonara.Timestamp(minute))
	}
	fatal.If(t, errors.Join(n.Index.CreateArchivePolicy(ctx, policy), n.Index.CreateMetric(ctx, metric), n.Post(m),
		n.Metricd.Refresh(ctx, []uuid.UUID{metric.ID})))
	f := func(most float64, columns ...carbonara.Column) {
		t.Helper()
		for range 2 { // the first one only notes that the metric is read
			var got carbonara.Groups
			read := model.Read{Metric: metric, Granularity: minute, Columns: columns, To: carbonara.MaxTimestamp}
			if err := n.Metricd.Groups(ctx, read, &got); err != nil || got.Len() != groups ||
				slices.ContainsFunc(got.Values[0], carbonara.IsAbsent) {
				t.Fatal(got.Len(), err)
			}
		}
		if bytes := n.Value("gnocco_metricd_recent_groups_bytes"); bytes == 0 || bytes > most*8*groups {
			t.Errorf("%v bytes of recent groups, want %v values a group at most", bytes, most)
		}
	}
	const slack = 1.5               // of slices that grow
	f(slack*3, carbonara.ColumnMax) // with start and count
	f(slack*4, carbonara.ColumnMin)
	f(slack*4, carbonara.ColumnMax)
	n.Stop(ctx)
}

// A day of groups of ten seconds, and what lies before it for a first value, is kept: reads that follow have no memory
// to resample the measures of the head.
func TestADayOfTenSecondsIsRecent(t *testing.T) {
	ctx, ten := context.Background(), 10*time.Second
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1, GroupBytes: 8 << 20})
	defer n.Stop(ctx)
	policy, err := model.NewArchivePolicy("p", 0, []model.DefinitionInput{{Granularity: &ten}}, []string{"last"})
	fatal.If(t, err)
	const groups = (24*3600 + 300) / 10
	metric := &model.Metric{ID: uuid.UUID{15: 1}, ArchivePolicy: policy, Creator: "admin"}
	m := &model.Measures{Metrics: []uuid.UUID{metric.ID}, Offsets: []int{0, groups}, Values: make([]float64, groups)}
	for i := range groups {
		m.Timestamps = append(m.Timestamps, start+carbonara.Timestamp(i)*carbonara.Timestamp(ten))
	}
	fatal.If(t, errors.Join(n.Index.CreateArchivePolicy(ctx, policy), n.Index.CreateMetric(ctx, metric), n.Post(m),
		n.Metricd.Refresh(ctx, []uuid.UUID{metric.ID})))
	for _, ctx := range []context.Context{ctx, ctx, budget.New(1<<20, nil).Context(ctx)} {
		var got carbonara.Groups
		read := model.Read{Metric: metric, Granularity: ten, Columns: []carbonara.Column{carbonara.ColumnLast},
			From: start, To: carbonara.MaxTimestamp}
		if err := n.Metricd.Groups(ctx, read, &got); err != nil || got.Len() != groups {
			t.Fatal(got.Len(), err)
		}
	}
}
