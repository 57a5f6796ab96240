package metricd_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
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

// slowDisk is a file system on which the next sync of a sack's store waits, once it is told to.
type slowDisk struct {
	blocked chan struct{}      // gets a token when a sync waits
	gates   chan chan struct{} // a gate, for the next sync to wait at until it is closed
}

// block makes the next sync wait until the returned function is called.
func (d *slowDisk) block() (release func()) {
	gate := make(chan struct{})
	d.gates <- gate
	return sync.OnceFunc(func() { close(gate) })
}

// sync is called before each sync of a file.
func (d *slowDisk) sync(name string) {
	if !strings.HasPrefix(name, "sacks/") {
		return
	}
	select {
	case gate := <-d.gates:
		d.blocked <- struct{}{}
		<-gate
	default:
	}
}

// TestReadsWhileACheckpointSyncs reads everything that can be read of a sack while the checkpoint's sync waits, and
// after it. Every answer is that of a node that never makes a checkpoint, bit for bit.
func TestReadsWhileACheckpointSyncs(t *testing.T) {
	seeds := uint64(24)
	if testing.Short() {
		seeds = 6 // still each kind
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { readWhileSyncing(t, seed) })
	}
}

type syncedReads struct {
	rng         *rand.Rand
	large       bool // requests of many measures make checkpoints that are written as a table
	slow, plain *testnode.Node
	ids         []uuid.UUID
	policy      *model.ArchivePolicy
	now         int // seconds after start
}

func readWhileSyncing(t *testing.T, seed uint64) {
	ctx := context.Background()
	disk := &slowDisk{blocked: make(chan struct{}, 1), gates: make(chan chan struct{}, 1)}
	s := &syncedReads{rng: rand.New(rand.NewPCG(31, seed)), ids: []uuid.UUID{{15: 1}, {15: 2}, {15: 3}},
		large: seed%4 == 3}
	methods := [][]string{{"mean", "min", "max", "sum", "std", "count"}, {"mean", "95pct", "last"},
		{"rate:mean", "rate:count", "first"}}[seed%3]
	s.policy = newPolicy(t, "p", int(seed/3%3), []time.Duration{time.Second, 10 * time.Second}, methods...)
	s.slow = testnode.Start(t, testnode.Options{FS: testnode.HookSyncs(vfs.NewMem(), disk.sync), Sacks: 1, Workers: 1,
		GroupBytes: 1 << 20})
	defer s.slow.Stop(ctx)
	s.plain = testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1, GroupBytes: -1})
	defer s.plain.Stop(ctx)
	for _, n := range []*testnode.Node{s.slow, s.plain} {
		fatal.If(t, n.Index.CreateArchivePolicy(ctx, s.policy))
		for _, id := range s.ids {
			fatal.If(t, n.Index.CreateMetric(ctx, &model.Metric{ID: id, ArchivePolicy: s.policy,
				Creator: "admin"}))
		}
	}
	rounds := 20
	if s.large {
		rounds = 4
	}
	for range rounds {
		for range 1 + s.rng.IntN(6) {
			s.post(t)
			if s.rng.IntN(2) == 0 {
				s.compare(t, "before a checkpoint")
			}
		}
		release, done := disk.block(), make(chan error, 1)
		defer release()
		go func() { done <- s.slow.Metricd.Checkpoint(ctx) }()
		select {
		case <-disk.blocked:
		case <-time.After(2 * time.Minute):
			t.Fatal("the checkpoint syncs nothing")
		}
		for range 4 {
			s.compare(t, "during a checkpoint")
		}
		release()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		s.compare(t, "after a checkpoint")
	}
	for range 50 {
		s.compare(t, "at the end")
	}
}

// post sends measures, some late and some over the end of a block, to both nodes.
func (s *syncedReads) post(t *testing.T) {
	t.Helper()
	m := &model.Measures{Metrics: []uuid.UUID{s.ids[s.rng.IntN(len(s.ids))]}}
	n := 1 + s.rng.IntN(6)
	if s.large {
		n = 3000
	}
	for range n {
		at := carbonara.Timestamp(s.now) * 1e9
		if s.rng.IntN(5) == 0 {
			at = max(0, at-carbonara.Timestamp(s.rng.Int64N(20e9)))
		}
		m.Timestamps = append(m.Timestamps, start+at)
		m.Values = append(m.Values, s.rng.NormFloat64())
		s.now += s.rng.IntN(7)
	}
	m.Offsets = []int{0, len(m.Values)}
	for _, n := range []*testnode.Node{s.slow, s.plain} {
		fatal.If(t, n.Post(m))
		fatal.If(t, n.Metricd.Refresh(t.Context(), m.Metrics))
	}
}

// compare asks both nodes the same, in one of the ways in which a sack is read.
func (s *syncedReads) compare(t *testing.T, when string) {
	t.Helper()
	metrics := slices.Clone(s.ids)
	if s.rng.IntN(2) == 0 {
		metrics = metrics[s.rng.IntN(len(metrics)):]
	}
	asked := model.Read{Granularity: []time.Duration{time.Second, 10 * time.Second, 0}[s.rng.IntN(3)],
		Columns: s.policy.Plan().Columns, To: carbonara.MaxTimestamp}
	if asked.Granularity == 0 {
		asked.Columns = []carbonara.Column{carbonara.ColumnLast}
	}
	if s.large || s.rng.IntN(2) == 0 {
		asked.From = start + carbonara.Timestamp(max(0, s.now-s.rng.IntN(60)))*1e9
	}
	got, want := s.answer(t, s.slow, metrics, asked), s.answer(t, s.plain, metrics, asked)
	if got != want {
		t.Fatalf("%s, %v from %d:\ngot  %s\nwant %s", when, asked.Granularity, (asked.From-start)/1e9, got, want)
	}
}

// answer returns groups by both ways of reading them, newest measures, and counts of late and dropped ones.
func (s *syncedReads) answer(t *testing.T, n *testnode.Node, metrics []uuid.UUID, asked model.Read) string {
	t.Helper()
	ctx := context.Background()
	var answer strings.Builder
	var reads []model.Read
	for _, id := range metrics {
		metric, err := n.Index.Metric(id)
		fatal.If(t, err)
		asked.Metric = metric
		reads = append(reads, asked)
		var groups carbonara.Groups
		fatal.If(t, n.Metricd.Groups(ctx, asked, &groups))
		fmt.Fprintf(&answer, "%v %x\n", groups.Starts, groups.Values)
	}
	var groups carbonara.Groups
	fatal.If(t, n.Metricd.EachGroups(ctx, reads, &groups, func(int) error {
		fmt.Fprintf(&answer, "%v %x\n", groups.Starts, groups.Values)
		return nil
	}))
	newest, err := n.Metricd.LastMeasures(ctx, metrics)
	fatal.If(t, err)
	sizes, err := n.Metricd.Sizes(ctx, metrics)
	fatal.If(t, err)
	for i := range metrics {
		fmt.Fprintf(&answer, "newest %v, dropped %d, late %d\n", newest[i], sizes[i].Dropped, sizes[i].Late)
	}
	return answer.String()
}
