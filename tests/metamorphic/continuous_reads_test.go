package metamorphic_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

var (
	readsFor  = flag.Duration("reads.for", 3*time.Second, "how long TestContinuousReads writes, at each speed of disk")
	readsSync = flag.Duration("reads.sync", 200*time.Millisecond, "sync time of the sacks' slow disk in TestContinuousReads")
	readsSeed = flag.Uint64("reads.seed", 31, "seed of TestContinuousReads")
)

// TestContinuousReads reads all the time while measures come in, many of them late, and checkpoints are made. Every
// answer shows a prefix of the requests. Groups that no later request can change are compared with those recomputed
// from all measures at the end.
func TestContinuousReads(t *testing.T) {
	for _, syncTime := range []time.Duration{time.Millisecond, *readsSync} {
		t.Run(fmt.Sprint(syncTime), func(t *testing.T) { readContinuously(t, syncTime) })
	}
}

// continuousReads is one node that is written and read at the same time.
type continuousReads struct {
	n       *testnode.Node
	ids     []uuid.UUID
	metrics []*model.Metric

	mu         sync.Mutex
	references []reference
	answers    []answer
}

// answer is what a read answered.
type answer struct {
	metric int
	from   carbonara.Timestamp
	groups carbonara.Groups
}

// writersPerPolicy is how many metrics of each policy are written, each by a goroutine.
const writersPerPolicy = 3

func readContinuously(t *testing.T, syncTime time.Duration) {
	rng := rand.New(rand.NewPCG(*readsSeed, uint64(syncTime)))
	slow := testnode.HookSyncs(vfs.NewMem(), func(name string) {
		if strings.HasPrefix(name, "sacks/") {
			time.Sleep(syncTime)
		}
	})
	c := &continuousReads{n: testnode.Start(t, testnode.Options{FS: slow, Sacks: 2, Workers: 2, GroupBytes: 8 << 20})}
	defer c.n.Stop(context.Background())
	c.createMetrics(t, rng)

	ctx, cancel := context.WithTimeout(t.Context(), *readsFor)
	defer cancel()
	var writers, others sync.WaitGroup
	for i := range c.ids {
		seed := rng.Uint64()
		writers.Go(func() { c.write(ctx, t, i, rand.New(rand.NewPCG(seed, 1))) })
	}
	var done atomic.Bool
	for range 4 {
		seed := rng.Uint64()
		others.Go(func() {
			for r := rand.New(rand.NewPCG(seed, 2)); !done.Load(); {
				c.read(t, r)
				time.Sleep(time.Duration(r.IntN(2000)) * time.Microsecond)
			}
		})
	}
	checkpoints := 0
	others.Go(func() {
		for !done.Load() {
			if err := c.n.Metricd.Checkpoint(context.Background()); err != nil {
				t.Error(err)
			}
			checkpoints++
			time.Sleep(syncTime + 20*time.Millisecond)
		}
	})
	writers.Wait()
	done.Store(true)
	others.Wait()
	for range 20 * len(c.ids) { // what the cache of recent groups holds
		c.read(t, rng)
	}
	groups := c.compare(t)
	for i, id := range c.ids {
		for _, g := range c.references[i].policy.Plan().Granularities {
			requireEqual(t, c.references[i].policy.Name, c.n.Read(id, g), c.references[i].groups(t, g))
		}
	}
	t.Logf("%d closed groups of %d answers, %d checkpoints", groups, len(c.answers), checkpoints)
	if groups == 0 || checkpoints == 0 {
		t.Error("nothing was compared")
	}
}

func (c *continuousReads) createMetrics(t *testing.T, rng *rand.Rand) {
	t.Helper()
	all := policies(t)
	firsts := metricIDs(rng, len(all))
	createMetrics(t, c.n, all, firsts)
	for range writersPerPolicy {
		for i, id := range metricIDs(rng, len(all)) {
			metric := &model.Metric{ID: id, ArchivePolicy: all[i], Creator: "admin"}
			fatal.If(t, c.n.Index.CreateMetric(t.Context(), metric))
			c.ids, c.metrics = append(c.ids, id), append(c.metrics, metric)
			c.references = append(c.references, reference{policy: all[i]})
		}
	}
}

// write sends requests of one metric, one after the other, each with some late measures and often over the end of a
// block.
func (c *continuousReads) write(ctx context.Context, t *testing.T, metric int, rng *rand.Rand) {
	clock := carbonara.Timestamp(1_700_000_000e9) + carbonara.Timestamp(rng.Int64N(int64(time.Hour)))
	step := int64(c.references[metric].policy.Plan().Coarsest()) / 40
	for ctx.Err() == nil {
		m := &model.Measures{Metrics: []uuid.UUID{c.ids[metric]}}
		for range 1 + rng.IntN(12) {
			clock += carbonara.Timestamp(rng.Int64N(step))
			at := clock
			if rng.IntN(5) == 0 {
				at -= carbonara.Timestamp(rng.Int64N(20 * step))
			}
			m.Timestamps = append(m.Timestamps, at)
			m.Values = append(m.Values, float64(rng.IntN(1000))/8)
		}
		m.Offsets = []int{0, len(m.Values)}
		if err := c.n.Post(m); err != nil {
			t.Error(err)
			return
		}
		c.mu.Lock()
		c.references[metric].request(m.Timestamps, m.Values)
		c.mu.Unlock()
		time.Sleep(time.Duration(rng.IntN(5)) * time.Millisecond)
	}
}

// read asks for the latest groups of a metric, in one of the two ways.
func (c *continuousReads) read(t *testing.T, rng *rand.Rand) {
	i := rng.IntN(len(c.ids))
	plan := c.references[i].policy.Plan()
	granularity := plan.Granularities[rng.IntN(len(plan.Granularities))]
	c.mu.Lock()
	newest := c.references[i].newest
	c.mu.Unlock()
	back := carbonara.Timestamp(rng.IntN(6)) * carbonara.Timestamp(plan.Coarsest())
	read := model.Read{Metric: c.metrics[i], Granularity: granularity, Columns: plan.Columns,
		From: max(0, newest.Floor(plan.Coarsest())-back), To: carbonara.MaxTimestamp}
	a := answer{metric: i, from: read.From}
	ctx := context.Background()
	var err error
	if rng.IntN(2) == 0 {
		err = c.n.Metricd.Groups(ctx, read, &a.groups)
	} else {
		err = c.n.Metricd.EachGroups(ctx, []model.Read{read}, &a.groups, func(int) error { return nil })
	}
	if err != nil {
		t.Error(err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers = append(c.answers, a)
}

// compare holds the closed groups of every answer to those of all measures, and returns how many there were.
func (c *continuousReads) compare(t *testing.T) (closed int) {
	t.Helper()
	type key struct {
		metric      int
		granularity time.Duration
	}
	whole := make(map[key]*carbonara.Groups)
	for k := range c.answers {
		a := &c.answers[k]
		if a.groups.Len() == 0 {
			continue
		}
		granularity := a.groups.Granularity
		r := c.references[a.metric] // a copy
		want := whole[key{a.metric, granularity}]
		if want == nil {
			r.keepsAll = true
			want = r.groups(t, granularity)
			whole[key{a.metric, granularity}] = want
		}
		newest := a.groups.Starts[a.groups.Len()-1]
		oldest := r.oldestAfter(newest)
		from := a.from
		if timespan := r.policy.Timespan(granularity); timespan > 0 {
			from = max(from, archive.OldestKept(newest, timespan))
		}
		before := oldest - carbonara.Timestamp(granularity) + 1 // groups that start before this end by oldest
		got, expected := between(&a.groups, from, before), between(want, from, before)
		requireEqual(t, fmt.Sprintf("seed %d, %s", *readsSeed, r.policy.Name), got, expected)
		closed += got.Len()
	}
	return closed
}

// between returns the groups that start at from or later, and before to.
func between(g *carbonara.Groups, from, to carbonara.Timestamp) *carbonara.Groups {
	first, _ := slices.BinarySearch(g.Starts, from)
	last, _ := slices.BinarySearch(g.Starts, to)
	part := g.Slice(first, max(first, last))
	return &part
}
