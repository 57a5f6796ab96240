package metamorphic_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// rebuilt is what the test changes: metrics of one policy, and requests that come before, during and after.
type rebuilt struct {
	from, to *model.ArchivePolicy
	ids      []uuid.UUID
	requests []*model.Measures
}

func newRebuilt(t *testing.T) *rebuilt {
	policy := func(methods []string, granularities ...time.Duration) *model.ArchivePolicy {
		var definition []model.DefinitionInput
		for _, g := range granularities {
			definition = append(definition, model.DefinitionInput{Granularity: &g})
		}
		p, err := model.NewArchivePolicy("p", 1, definition, methods)
		fatal.If(t, err)
		return p
	}
	r := &rebuilt{
		from: policy([]string{"sum", "count", "max", "last"}, time.Minute, 5*time.Minute),
		to:   policy([]string{"sum", "count", "last"}, 5*time.Minute, 30*time.Minute),
		ids:  metricIDs(rand.New(rand.NewPCG(5, 6)), 5),
	}
	for i := range 60 {
		m := &model.Measures{Offsets: []int{0}}
		for j, id := range r.ids {
			m.Metrics = append(m.Metrics, id)
			m.Timestamps = append(m.Timestamps, carbonara.Timestamp(1_700_000_000+i*97)*1e9)
			m.Values = append(m.Values, float64(i*j%17))
			m.Offsets = append(m.Offsets, len(m.Values))
		}
		r.requests = append(r.requests, m)
	}
	return r
}

func (r *rebuilt) create(t *testing.T, n *testnode.Node, policy *model.ArchivePolicy) {
	t.Helper()
	fatal.If(t, n.Index.CreateArchivePolicy(context.Background(), policy))
	for _, id := range r.ids {
		fatal.If(t, n.Index.CreateMetric(context.Background(), &model.Metric{ID: id, ArchivePolicy: policy,
			Creator: "admin"}))
	}
}

func (r *rebuilt) post(t *testing.T, n *testnode.Node, from, to int) {
	t.Helper()
	for _, m := range r.requests[from:to] {
		fatal.If(t, n.Post(m))
	}
}

// change changes the policy, unless it is changed, and rebuilds.
func (r *rebuilt) change(t *testing.T, n *testnode.Node) {
	t.Helper()
	ctx := context.Background()
	if _, _, err := n.Index.ChangeArchivePolicy(ctx, "p", time.Now(),
		func(*model.ArchivePolicy) (*model.ArchivePolicy, error) {
			return r.to, nil
		}); err != nil {
		t.Fatal(err)
	}
	if done, err := n.Rebuild(ctx, r.ids...); err != nil || done.Failed > 0 {
		t.Fatal(done, err)
	}
}

// TestRebuildSurvivesPowerCuts cuts the power at every write while a policy is changed and its metrics rebuilt: done
// again after that, archives are those of metrics that had the policy from the start.
func TestRebuildSurvivesPowerCuts(t *testing.T) {
	ctx := context.Background()
	r := newRebuilt(t)
	fresh := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 2, Workers: 1})
	defer fresh.Stop(ctx)
	r.create(t, fresh, r.to)
	r.post(t, fresh, 0, len(r.requests))

	var mu sync.Mutex
	var disks []*vfs.MemFS
	var writes int
	var armed atomic.Bool
	stride := 1
	if testing.Short() {
		stride = 5
	}
	disk := testnode.NewCrashableFS()
	fs := &crashFS{FS: disk, before: func() {
		mu.Lock()
		defer mu.Unlock()
		if writes++; armed.Load() && writes%stride == 0 {
			disks = append(disks, disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: writes * 37 % 101,
				RNG: rand.New(rand.NewPCG(uint64(writes), 1))}))
		}
	}}
	n := testnode.Start(t, testnode.Options{FS: fs, Sacks: 2, Workers: 1})
	r.create(t, n, r.from)
	r.post(t, n, 0, 40)
	fatal.If(t, n.Metricd.Checkpoint(ctx))
	r.post(t, n, 40, 45)
	fatal.If(t, n.Metricd.Refresh(ctx, r.ids))
	armed.Store(true)
	r.change(t, n)
	r.post(t, n, 45, 50)
	fatal.If(t, n.Metricd.Checkpoint(ctx))
	armed.Store(false)
	n.Stop(ctx)
	if len(disks) < 20/stride {
		t.Fatalf("only %d power cuts", len(disks))
	}
	t.Logf("%d power cuts", len(disks))
	for k, disk := range disks {
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			n := testnode.Start(t, testnode.Options{FS: disk, Sacks: 2, Workers: 1})
			defer n.Stop(ctx)
			if k%2 == 0 { // or what was accepted waits still
				fatal.If(t, n.Metricd.Refresh(ctx, r.ids))
			}
			r.change(t, n)
			r.post(t, n, 45, len(r.requests)) // some for the second time
			for _, id := range r.ids {
				for _, g := range r.to.Granularities() {
					requireEqual(t, g.String(), n.Read(id, g), fresh.Read(id, g))
				}
			}
		})
	}
}
