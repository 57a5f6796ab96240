package metamorphic_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// crashFS calls before ahead of every change to the file system below it.
type crashFS struct {
	vfs.FS
	before func()
}

func (c *crashFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	c.before()
	f, err := c.FS.Create(name, category)
	return c.wrap(f), err
}

func (c *crashFS) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	c.before()
	f, err := c.FS.ReuseForWrite(oldname, newname, category)
	return c.wrap(f), err
}

func (c *crashFS) OpenDir(name string) (vfs.File, error) {
	f, err := c.FS.OpenDir(name)
	return c.wrap(f), err
}

func (c *crashFS) Link(oldname, newname string) error {
	c.before()
	return c.FS.Link(oldname, newname)
}

func (c *crashFS) Remove(name string) error {
	c.before()
	return c.FS.Remove(name)
}

func (c *crashFS) Rename(oldname, newname string) error {
	c.before()
	return c.FS.Rename(oldname, newname)
}

func (c *crashFS) wrap(f vfs.File) vfs.File {
	if f == nil {
		return nil
	}
	return &crashFile{File: f, fs: c}
}

type crashFile struct {
	vfs.File
	fs *crashFS
}

func (f *crashFile) Write(p []byte) (int, error) {
	f.fs.before()
	return f.File.Write(p)
}

func (f *crashFile) WriteAt(p []byte, offset int64) (int, error) {
	f.fs.before()
	return f.File.WriteAt(p, offset)
}

func (f *crashFile) Sync() error {
	f.fs.before()
	return f.File.Sync()
}

func (f *crashFile) SyncData() error {
	f.fs.before()
	return f.File.SyncData()
}

func (f *crashFile) SyncTo(length int64) (bool, error) {
	f.fs.before()
	return f.File.SyncTo(length)
}

var _ io.Writer = (*crashFile)(nil)

// TestCrashAtEveryWrite takes the disk as a power cut would leave it before every single change to the file system,
// and starts from each: every acknowledged request counts exactly once, the one in flight wholly or not at all.
func TestCrashAtEveryWrite(t *testing.T) {
	stride := 1
	if testing.Short() {
		stride = 7
	}
	policies := policies(t)[:3]
	rng := rand.New(rand.NewPCG(21, 22))
	ids := metricIDs(rng, len(policies))
	requests := history(rng, ids, 100)

	// states[i] are the archives after i requests.
	states := make([][]reference, len(requests)+1)
	for i := range states {
		states[i] = make([]reference, len(ids))
		for j, p := range policies {
			states[i][j].policy = p
			for _, r := range requests[:i] {
				for m, id := range r.measures.Metrics {
					if id == ids[j] {
						timestamps, values := r.measures.Of(m)
						states[i][j].request(timestamps, values)
					}
				}
			}
		}
	}

	type crash struct {
		disk  *vfs.MemFS
		acked int
	}
	var (
		mu      sync.Mutex
		crashes []crash
		writes  int
		armed   atomic.Bool
		acked   atomic.Int64
	)
	disk := testnode.NewCrashableFS()
	fs := &crashFS{FS: disk, before: func() {
		if !armed.Load() {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		writes++
		if writes%stride == 0 {
			// Measures acknowledged by now must be on the disk. Two more requests may get there before it is copied.
			n := int(acked.Load())
			// Some of the unsynced bytes survive, some do not.
			crashes = append(crashes,
				crash{disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: writes * 37 % 101,
					RNG: rand.New(rand.NewPCG(uint64(writes), 1))}), n})
		}
	}}
	n := testnode.Start(t, testnode.Options{FS: fs, Sacks: 2, Workers: 1})
	createMetrics(t, n, policies, ids)
	armed.Store(true)
	for i, r := range requests {
		fatal.If(t, n.Post(&r.measures))
		acked.Store(int64(i + 1))
		if i%5 == 4 {
			fatal.If(t, n.Metricd.Checkpoint(context.Background()))
		}
	}
	n.Stop(context.Background())
	armed.Store(false)
	if len(crashes) < 200/stride {
		t.Fatalf("only %d crashes: the file system below is not the one written to", len(crashes))
	}
	t.Logf("%d writes, %d crashes", writes, len(crashes))
	for k, c := range crashes {
		t.Run(fmt.Sprintf("write=%d", (k+1)*stride), func(t *testing.T) {
			n := testnode.Start(t, testnode.Options{FS: c.disk, Sacks: 2, Workers: 1})
			defer n.Stop(context.Background())
			requireOneOf(t, n, ids, states[c.acked:min(c.acked+3, len(states))])
		})
	}
}

// requireOneOf demands that the archives are one of the states, the same for all metrics.
func requireOneOf(t *testing.T, n *testnode.Node, ids []uuid.UUID, states [][]reference) {
	t.Helper()
	var failures []string
	for _, state := range states {
		probe := &recorder{TB: t}
		func() {
			defer func() {
				if r := recover(); r != nil && r != any(probe) {
					panic(r)
				}
			}()
			requireArchives(probe, n, ids, state)
		}()
		if probe.message == "" {
			return
		}
		failures = append(failures, probe.message)
	}
	t.Fatalf("neither state: %q", failures)
}

// recorder turns a Fatalf into a message.
type recorder struct {
	testing.TB
	message string
}

func (r *recorder) Helper() {}

func (r *recorder) Fatalf(format string, args ...any) {
	r.message = fmt.Sprintf(format, args...)
	panic(r)
}
