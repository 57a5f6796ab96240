package device_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/gnocco-db/gnocco/tests/devicetest"
	"github.com/gnocco-db/gnocco/tests/fatal"

	"github.com/gnocco-db/gnocco/gpu/device"
)

// do runs f as the owner of a device.
func do(t *testing.T, dev *device.Device, f func(e *device.Engine)) {
	t.Helper()
	fatal.If(t, dev.Do(t.Context(), func(e *device.Engine) error { f(e); return nil }))
}

// get takes a block that must be there.
func get(t *testing.T, pool *device.Pool, bytes int64) *device.Block {
	t.Helper()
	b, err := pool.Get(bytes)
	fatal.If(t, err)
	if b.Size < bytes {
		t.Fatalf("%d bytes for %d", b.Size, bytes)
	}
	return b
}

func TestPoolReusesBlocks(t *testing.T) {
	driver := fake(t)
	do(t, devicetest.Open(t, device.Options{}), func(e *device.Engine) {
		a := get(t, e.Memory, 10_000)
		at := a.Ptr
		a.Release()
		b := get(t, e.Memory, 9_000)
		if b.Ptr != at {
			t.Error("a block that serves was not reused")
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
	do(t, devicetest.Open(t, device.Options{MemoryBytes: 64 << 10}), func(e *device.Engine) {
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
		more := get(t, e.Memory, 28<<10) // 52 KiB are held, 16 of them unused
		if driver.Calls("cuMemFree_v2") != 1 || more.Ptr == oldAt && more.Size < 28<<10 {
			t.Error("the unused block was not freed")
		}
		if _, err := e.Memory.Get(4 << 10); !errors.Is(err, device.ErrMemory) {
			t.Error(err)
		}
		large.Release()
		small.Release()
		more.Release()
	})
}

// The device has less than the budget: another process also uses it.
func TestPoolLivesWithAFullDevice(t *testing.T) {
	driver := fake(t)
	do(t, devicetest.Open(t, device.Options{MemoryBytes: 1 << 20}), func(e *device.Engine) {
		driver.SetMemory(100 << 10)
		a := get(t, e.Memory, 60<<10)
		if _, err := e.Memory.Get(56 << 10); !errors.Is(err, device.ErrMemory) {
			t.Error(err)
		}
		a.Release()
		get(t, e.Memory, 96<<10).Release() // for which the unused block went
	})
}

func TestBlockReleasedTwicePanics(t *testing.T) {
	fake(t)
	do(t, devicetest.Open(t, device.Options{}), func(e *device.Engine) {
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
	dev := devicetest.Open(t, device.Options{PinnedBytes: 64 << 10})
	engine, err := dev.Open(t.Context())
	fatal.If(t, err)
	// on this goroutine, which has no context
	for _, pool := range []*device.PinnedPool{engine.Uploads, engine.Downloads} {
		a, err := pool.Get(40 << 10)
		fatal.If(t, err)
		if _, err := pool.Get(40 << 10); !errors.Is(err, device.ErrMemory) {
			t.Error(err)
		}
		values := device.View[float64](a, 8, 1000)
		for i := range values {
			values[i] = float64(i)
		}
		if ints := device.View[int64](a, 8, 1000); slices.Max(ints) == 0 {
			t.Error("another view shows other bytes")
		}
		before := driver.Calls("cuMemHostAlloc")
		a.Release()
		b, err := pool.Get(36 << 10)
		fatal.If(t, err)
		if driver.Calls("cuMemHostAlloc") != before {
			t.Error("not reused")
		}
		b.Release()
		c, err := pool.Get(8 << 10) // too small for the other to serve, and both fit
		fatal.If(t, err)
		c.Release()
		d, err := pool.Get(60 << 10) // neither serves: they are freed
		fatal.If(t, err)
		d.Release()
	}
}

func TestViewKeepsToItsMemory(t *testing.T) {
	fake(t)
	dev := devicetest.Open(t, device.Options{})
	engine, err := dev.Open(t.Context())
	fatal.If(t, err)
	p, err := engine.Uploads.Get(512)
	fatal.If(t, err)
	defer p.Release()
	f := func(offset, n int, fits bool) {
		t.Helper()
		defer func() {
			if (recover() == nil) != fits {
				t.Errorf("from %d, %d numbers: fits %v", offset, n, !fits)
			}
		}()
		device.View[uint32](p, offset, n)
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

// published is a job that publishes its input, as jobs do whose blocks outlive them.
type published struct{ scaling }

func (s *published) Start(e *device.Engine, stream *device.Stream) error {
	bytes := int64(len(s.in)) * 8
	x, err := e.Memory.Get(bytes)
	if err != nil {
		return err
	}
	stream.Hold(x)
	up, err := e.Uploads.Get(bytes)
	if err != nil {
		return err
	}
	stream.Hold(up)
	copy(device.View[float64](up, 0, len(s.in)), s.in)
	if err := errors.Join(stream.Upload(x, 0, up, 0, bytes), stream.Publish(x)); err != nil {
		return err
	}
	y, err := e.Memory.Get(bytes)
	if err != nil {
		return err
	}
	stream.Hold(y)
	if s.result, err = e.Downloads.Get(bytes); err != nil {
		return err
	}
	stream.Hold(s.result)
	return errors.Join(s.launch(stream, x, y), stream.Download(s.result, 0, y, 0, bytes))
}
