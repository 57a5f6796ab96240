package metamorphic_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// filledIn is a metric with measures and a history.
type filledIn struct {
	policy       *model.ArchivePolicy
	live         uuid.UUID
	older, newer []*model.Measures // requests, in order of time
	rows         int               // of the history
}

// done is how far a client has come, by the answers that it got.
type done struct {
	older, newer int // requests
}

func newFilledIn(t *testing.T) *filledIn {
	t.Helper()
	minute, block := time.Minute, 5*time.Minute
	policy, err := model.NewArchivePolicy("p", 0, []model.DefinitionInput{{Granularity: &minute}, {Granularity: &block}},
		[]string{"sum", "count", "max", "std", "last", "95pct"})
	fatal.If(t, err)
	b := &filledIn{policy: policy, live: uuid.UUID{1}}
	random := rand.New(rand.NewPCG(3, 4))
	request := func(second, n int) *model.Measures {
		m := &model.Measures{Metrics: []uuid.UUID{b.live}, Offsets: []int{0, n}}
		for i := range n {
			m.Timestamps = append(m.Timestamps, carbonara.Timestamp(1_700_000_100+second+20*i)*1e9)
			m.Values = append(m.Values, random.NormFloat64())
		}
		return m
	}
	const day = 86_400
	for i, n := range []int{30, 9000, 60} { // the second ones are committed as a table
		for from := 0; from < n; from += 3000 {
			size := min(3000, n-from)
			b.older = append(b.older, request(i*60*day+20*from, size))
			b.rows += size
		}
	}
	for i := range 4 {
		b.newer = append(b.newer, request(200*day+i*600, 30))
	}
	return b
}

func (b *filledIn) create(t *testing.T, n *testnode.Node) {
	t.Helper()
	fatal.If(t, n.Index.CreateArchivePolicy(t.Context(), b.policy))
	fatal.If(t, n.Index.CreateMetric(t.Context(), &model.Metric{ID: b.live, ArchivePolicy: b.policy, Creator: "admin"}))
}

// run does what a client does that has come so far, and notes how far it comes. It returns what its requests did.
func (b *filledIn) run(t *testing.T, n *testnode.Node, so done, note func(done)) (all model.Replaced) {
	t.Helper()
	post := func() {
		t.Helper()
		fatal.If(t, n.Post(b.newer[so.newer]))
		so.newer++
		note(so)
	}
	if so.newer < 1 {
		post()
	}
	for so.older < len(b.older) {
		m := b.older[so.older]
		some, err := n.Metricd.Replace(t.Context(), m.Metrics, &model.Replacement{Empty: true, Timestamps: m.Timestamps,
			Values: m.Values})
		fatal.If(t, err)
		all.Add(&some)
		so.older++
		note(so)
		if so.newer < len(b.newer) { // measures come in meanwhile
			post()
		}
	}
	for so.newer < len(b.newer) {
		post()
	}
	fatal.If(t, n.Metricd.Checkpoint(t.Context()))
	return all
}

// requireKept demands all blocks whose request was answered, and all measures, and of other blocks all or nothing.
func (b *filledIn) requireKept(t *testing.T, n *testnode.Node, so done, want map[time.Duration]*carbonara.Groups) {
	t.Helper()
	block := b.policy.Plan().Coarsest()
	blocks := func(all *carbonara.Groups) map[carbonara.Timestamp]carbonara.Groups {
		byBlock := make(map[carbonara.Timestamp]carbonara.Groups)
		for from := 0; from < all.Len(); {
			start := all.Starts[from].Floor(block)
			to := all.Search(start.Add(block))
			byBlock[start], from = all.Slice(from, to), to
		}
		return byBlock
	}
	history := b.older[len(b.older)-1]
	end := history.Timestamps[len(history.Timestamps)-1].Floor(block).Add(block)
	var reached carbonara.Timestamp // blocks before it are there
	if so.older > 0 {
		last := b.older[so.older-1].Timestamps
		reached = last[len(last)-1].Floor(block).Add(block)
	}
	found := make(map[carbonara.Timestamp]int) // at how many granularities
	for g, want := range want {
		got := blocks(n.Read(b.live, g))
		for start, want := range blocks(want) {
			groups, ok := got[start]
			switch {
			case ok && start < end:
				found[start]++
				requireEqual(t, fmt.Sprintf("block %v", start), &groups, &want)
			case !ok && start < reached:
				t.Fatalf("block %v, which was put, is gone", start)
			case !ok && so.newer > 0 && start <= b.newer[so.newer-1].Timestamps[29].Floor(block) && start >= end:
				t.Fatalf("block %v, of measures that were accepted, is gone", start)
			}
		}
	}
	for start, granularities := range found {
		if granularities != len(want) {
			t.Fatalf("block %v is there at %d granularities", start, granularities)
		}
	}
}

// TestHistorySurvivesPowerCuts cuts the power at every write while a history is sent. Answered measures are
// kept, no block is put in part, and when the client goes on, the archive is that of measures that came in order.
func TestHistorySurvivesPowerCuts(t *testing.T) {
	ctx := context.Background()
	b := newFilledIn(t)
	ordered := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1})
	defer ordered.Stop(ctx)
	b.create(t, ordered)
	for _, m := range slices.Concat(b.older, b.newer) {
		fatal.If(t, ordered.Post(m))
	}
	want := make(map[time.Duration]*carbonara.Groups)
	for _, g := range b.policy.Granularities() {
		want[g] = ordered.Read(b.live, g)
	}

	type cut struct {
		disk *vfs.MemFS
		so   done
	}
	var mu sync.Mutex
	var cuts []cut
	var so done
	writes, armed, stride := 0, false, 1
	if testing.Short() {
		stride = 5
	}
	disk := testnode.NewCrashableFS()
	fs := &crashFS{FS: disk, before: func() {
		mu.Lock()
		defer mu.Unlock()
		if writes++; armed && writes%stride == 0 {
			cuts = append(cuts, cut{disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: writes * 37 % 101,
				RNG: rand.New(rand.NewPCG(uint64(writes), 1))}), so})
		}
	}}
	n := testnode.Start(t, testnode.Options{FS: fs, Sacks: 1, Workers: 1})
	b.create(t, n)
	arm := func(on bool) {
		mu.Lock()
		defer mu.Unlock()
		armed = on
	}
	arm(true)
	all := b.run(t, n, done{}, func(reached done) {
		mu.Lock()
		defer mu.Unlock()
		so = reached
	})
	arm(false)
	n.Stop(ctx)
	if all.Put != b.rows || all.Known+all.Refused > 0 {
		t.Fatalf("%+v, want %d measures put", all, b.rows)
	}
	if len(cuts) < 60/stride {
		t.Fatalf("only %d power cuts", len(cuts))
	}
	t.Logf("%d power cuts", len(cuts))
	for k, c := range cuts {
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			n := testnode.Start(t, testnode.Options{FS: c.disk, Sacks: 1, Workers: 1})
			defer n.Stop(ctx)
			b.requireKept(t, n, c.so, want)
			if all := b.run(t, n, c.so, func(done) {}); all.Refused > 0 {
				t.Fatalf("%+v", all)
			}
			for g, want := range want {
				requireEqual(t, "resumed", n.Read(b.live, g), want)
			}
		})
	}
}
