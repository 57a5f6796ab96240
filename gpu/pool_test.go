package gpu_test

import (
	"errors"
	"slices"
	"testing"

	"gnocco/gpu"
)

// do runs f as the owner of a device.
func do(t *testing.T, device *gpu.Device, f func(e *gpu.Engine)) {
	t.Helper()
	if err := device.Do(t.Context(), func(e *gpu.Engine) error { f(e); return nil }); err != nil {
		t.Fatal(err)
	}
}

// get takes a block that must be there.
func get(t *testing.T, pool *gpu.Pool, bytes int64) *gpu.Block {
	t.Helper()
	b, err := pool.Get(bytes)
	if err != nil {
		t.Fatal(err)
	}
	if b.Size < bytes {
		t.Fatalf("%d bytes for %d", b.Size, bytes)
	}
	return b
}

func TestPoolReusesBlocks(t *testing.T) {
	driver := fake(t)
	do(t, open(t, gpu.Options{}), func(e *gpu.Engine) {
		a := get(t, e.Memory, 10_000)
		at, id := a.Ptr, a.ID()
		a.Used = 77
		a.Release()
		b := get(t, e.Memory, 9_000)
		if b.Ptr != at {
			t.Error("a block that serves was not reused")
		}
		if b.ID() == id || b.Used != 0 {
			t.Error("it is taken for the same block")
		}
		c := get(t, e.Memory, 10_000) // the other is in use
		if c.Ptr == b.Ptr {
			t.Error("handed out twice")
		}
		b.Release()
		c.Release()
		d := get(t, e.Memory, 1000) // too small for either to serve
		if d.Ptr == b.Ptr || d.Ptr == c.Ptr {
			t.Error("most of a block is wasted")
		}
		d.Release()
		if n := driver.Calls("cuMemAlloc_v2"); n != 3 {
			t.Errorf("%d allocations", n)
		}
	})
}

func TestPoolFreesWhatIsUnusedLongest(t *testing.T) {
	driver := fake(t)
	do(t, open(t, gpu.Options{MemoryBytes: 64 << 10}), func(e *gpu.Engine) {
		old, young := get(t, e.Memory, 16<<10), get(t, e.Memory, 32<<10)
		oldAt, youngAt := old.Ptr, young.Ptr
		old.Release()
		young.Release()
		large := get(t, e.Memory, 24<<10) // the younger serves
		if large.Ptr != youngAt {
			t.Error("not reused")
		}
		small := get(t, e.Memory, 4<<10)
		if driver.Calls("cuMemFree_v2") != 0 {
			t.Error("freed without need")
		}
		more := get(t, e.Memory, 28<<10) // 52 KiB are held, of which 16 unused
		if driver.Calls("cuMemFree_v2") != 1 || more.Ptr == oldAt && more.Size < 28<<10 {
			t.Error("the unused block was not freed")
		}
		if _, err := e.Memory.Get(4 << 10); !errors.Is(err, gpu.ErrMemory) {
			t.Error(err)
		}
		large.Release()
		small.Release()
		more.Release()
	})
}

// The device has less than the budget: another process uses it, too.
func TestPoolLivesWithAFullDevice(t *testing.T) {
	driver := fake(t)
	do(t, open(t, gpu.Options{MemoryBytes: 1 << 20}), func(e *gpu.Engine) {
		driver.SetMemory(100 << 10)
		a := get(t, e.Memory, 60<<10)
		if _, err := e.Memory.Get(56 << 10); !errors.Is(err, gpu.ErrMemory) {
			t.Error(err)
		}
		a.Release()
		get(t, e.Memory, 96<<10).Release() // for which the unused block went
	})
}

func TestBlockReleasedTwicePanics(t *testing.T) {
	fake(t)
	do(t, open(t, gpu.Options{}), func(e *gpu.Engine) {
		b := get(t, e.Memory, 8)
		b.Release()
		defer func() {
			if recover() == nil {
				t.Error("nothing said")
			}
		}()
		b.Release()
	})
}

func TestPinnedPool(t *testing.T) {
	driver := fake(t)
	device := open(t, gpu.Options{PinnedBytes: 64 << 10})
	engine, err := device.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, pool := range []*gpu.PinnedPool{engine.Uploads, engine.Downloads} { // on this goroutine, which has no context
		a, err := pool.Get(40 << 10)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pool.Get(40 << 10); !errors.Is(err, gpu.ErrMemory) {
			t.Error(err)
		}
		values := gpu.View[float64](a, 8, 1000)
		for i := range values {
			values[i] = float64(i)
		}
		if ints := gpu.View[int64](a, 8, 1000); slices.Max(ints) == 0 {
			t.Error("another view shows other bytes")
		}
		before := driver.Calls("cuMemHostAlloc")
		a.Release()
		b, err := pool.Get(36 << 10)
		if err != nil {
			t.Fatal(err)
		}
		if driver.Calls("cuMemHostAlloc") != before {
			t.Error("not reused")
		}
		b.Release()
		c, err := pool.Get(8 << 10) // too small for the other to serve, and both fit
		if err != nil {
			t.Fatal(err)
		}
		c.Release()
		d, err := pool.Get(60 << 10) // neither serves: they are freed
		if err != nil {
			t.Fatal(err)
		}
		d.Release()
	}
}

func TestViewKeepsToItsMemory(t *testing.T) {
	fake(t)
	device := open(t, gpu.Options{})
	engine, err := device.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := engine.Uploads.Get(512)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	f := func(offset, n int, fits bool) {
		t.Helper()
		defer func() {
			if (recover() == nil) != fits {
				t.Errorf("from %d, %d numbers: fits %v", offset, n, !fits)
			}
		}()
		gpu.View[uint32](p, offset, n)
	}
	f(0, 128, true)
	f(512, 0, true)
	f(508, 1, true)
	f(0, 129, false)
	f(2, 1, false)
	f(-4, 1, false)
	f(0, -1, false)
	f(516, 0, false)
	f(4, 1<<62, false)
}

// cached is a job that scales a series which stays on the device: it is uploaded where it is not there yet.
type cached struct {
	scaling
	key     gpu.BlockKey
	version uint64

	hit bool
}

func (c *cached) Start(e *gpu.Engine, lane *gpu.Lane) error {
	bytes := int64(len(c.in)) * 8
	x, err := e.Cache.Use(lane, c.key, c.version)
	if err != nil {
		return err
	}
	if c.hit = x != nil; !c.hit {
		if x, err = e.Memory.Get(bytes); err != nil {
			return err
		}
		lane.Hold(x)
		up, err := e.Uploads.Get(bytes)
		if err != nil {
			return err
		}
		lane.Hold(up)
		copy(gpu.View[float64](up, 0, len(c.in)), c.in)
		if err := lane.Upload(x, 0, up, 0, bytes); err != nil {
			return err
		}
		if err := lane.Publish(x); err != nil {
			return err
		}
		x.Used = bytes
		e.Cache.Put(c.key, c.version, x)
	}
	y, err := e.Memory.Get(bytes)
	if err != nil {
		return err
	}
	lane.Hold(y)
	if c.result, err = e.Downloads.Get(bytes); err != nil {
		return err
	}
	lane.Hold(c.result)
	if err := c.launch(lane, x, y); err != nil {
		return err
	}
	return lane.Download(c.result, 0, y, 0, bytes)
}

func newCached(p *program, id byte, version uint64, n int) *cached {
	return &cached{scaling: *newScaling(p, n, int(id)*100+int(version)), key: gpu.BlockKey{ID: [16]byte{id}}, version: version}
}

func TestCacheKeepsSeriesOnTheDevice(t *testing.T) {
	fake(t)
	p := load(t, open(t, gpu.Options{CacheBytes: 1 << 20}))
	f := func(id byte, version uint64, hit bool) {
		t.Helper()
		job := newCached(p, id, version, 1000)
		if err := p.device.Run(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		job.check(t)
		if job.hit != hit {
			t.Errorf("series %d, version %d: found %v", id, version, job.hit)
		}
	}
	f(1, 1, false)
	f(1, 1, true)
	f(2, 1, false)
	f(1, 1, true)
	f(1, 2, false) // it changed
	f(1, 2, true)
	f(1, 1, false) // what there was before is gone
	do(t, p.device, func(e *gpu.Engine) {
		if e.Cache.Len() != 2 || e.Cache.Bytes() != 2*8192 {
			t.Errorf("%d blocks, %d bytes", e.Cache.Len(), e.Cache.Bytes())
		}
		if !e.Cache.Renew(gpu.BlockKey{ID: [16]byte{2}}, 9) || e.Cache.Renew(gpu.BlockKey{ID: [16]byte{3}}, 9) {
			t.Error("renewed what is not there, or not what is")
		}
		e.Cache.Drop(gpu.BlockKey{ID: [16]byte{1}})
	})
	f(1, 1, false)
	f(2, 1, false) // version 9 was there
}

func TestCacheKeepsToItsBudget(t *testing.T) {
	fake(t)
	p := load(t, open(t, gpu.Options{CacheBytes: 3 * 8192}))
	for i := range 10 {
		job := newCached(p, byte(i), 1, 1000)
		if err := p.device.Run(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		job.check(t)
	}
	do(t, p.device, func(e *gpu.Engine) {
		if e.Cache.Len() != 3 || e.Cache.Bytes() != 3*8192 {
			t.Errorf("%d blocks, %d bytes", e.Cache.Len(), e.Cache.Bytes())
		}
	})
	for i, hit := range map[int]bool{9: true, 8: true, 7: true, 0: false} {
		job := newCached(p, byte(i), 1, 1000)
		if i == 0 {
			job = newCached(p, 0, 1, 100_000) // more than the budget: computed, and not kept
		}
		if err := p.device.Run(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		job.check(t)
		if job.hit != hit {
			t.Errorf("series %d: found %v", i, job.hit)
		}
	}
}

// Jobs that need the memory get it from the cache; those under way keep what they use.
func TestCacheGivesWayToJobs(t *testing.T) {
	fake(t)
	p := load(t, open(t, gpu.Options{MemoryBytes: 512 << 10, CacheBytes: 512 << 10}))
	var jobs []*cached
	err := p.device.RunAll(t.Context(), func(yield func(gpu.Job) bool) {
		for i := range 40 {
			jobs = append(jobs, newCached(p, byte(i*7%13), 1, 6000)) // 48,000 bytes, and as much again for the result
			if !yield(jobs[i]) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, job := range jobs {
		job.check(t)
	}
	large := newScaling(p, 30_000, 1) // nearly all that there is
	if err := p.device.Run(t.Context(), large); err != nil {
		t.Fatal(err)
	}
	large.check(t)
	do(t, p.device, func(e *gpu.Engine) {
		if e.Cache.Len() != 0 {
			t.Errorf("%d series still there", e.Cache.Len())
		}
	})
}
