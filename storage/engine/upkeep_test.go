package engine_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
	"weak"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A store with little in it takes little room: while it is written to, once it rests, and when it is closed.
// Overwritten values go.
func TestSmallStoreTakesLittleRoom(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	db, err := engine.Open(dir, engine.Options{MemTableSize: 4 << 20})
	fatal.If(t, err)
	c := engine.NewPebbleCollector()
	c.Register("sacks", db, engine.ShortLog, nil)
	ticks := make(chan time.Time)
	go c.Upkeep(t.Context(), ticks)
	now := time.Unix(0, 0)
	random := rand.New(rand.NewPCG(1, 1))
	const keys, valueBytes = 256, 1000 // a quarter of a MB
	write := func() {
		t.Helper()
		b := db.NewBatch()
		for range 128 {
			value := make([]byte, valueBytes)
			for i := 0; i < len(value); i += 8 {
				binary.NativeEndian.PutUint64(value[i:], random.Uint64())
			}
			if err := b.Set(binary.BigEndian.AppendUint16([]byte{1}, uint16(random.IntN(keys))),
				value, nil); err != nil {
				t.Fatal(err)
			}
		}
		fatal.If(t, b.Commit(pebble.NoSync))
	}
	pass := func(d time.Duration) {
		now = now.Add(d)
		ticks <- now
		ticks <- now // has looked at it
	}
	f := func(when string, most int64) {
		t.Helper()
		got := allocated(t, dir)
		for tries := 0; got > most && tries < 3000; tries++ { // Pebble removes files in the background
			time.Sleep(10 * time.Millisecond)
			got = allocated(t, dir)
		}
		if got > most {
			t.Errorf("%s: %d bytes on the disk, more than %d", when, got, most)
		}
	}
	for range 200 { // 25 MB
		write()
		pass(engine.UpkeepInterval)
		f("while written to", 3<<20)
	}
	pass(engine.UpkeepInterval)
	f("after a pause", 2<<20)
	pass(40 * time.Minute)
	f("at rest", keys*valueBytes*13/10+64<<10)
	write()
	c.Unregister(db)
	fatal.If(t, engine.Close(db, vfs.Default, dir))
	f("closed", 2*keys*valueBytes+64<<10)
}

// openKept opens a store in memory that is kept up at each tick, until the test ends.
func openKept(t *testing.T, memTable uint64) (*pebble.DB, chan<- time.Time) {
	t.Helper()
	db, err := engine.Open("store", engine.Options{FS: vfs.NewMem(), MemTableSize: memTable})
	fatal.If(t, err)
	t.Cleanup(func() { db.Close() })
	c := engine.NewPebbleCollector()
	c.Register("sacks", db, engine.ShortLog, nil)
	t.Cleanup(func() { c.Unregister(db) })
	ticks := make(chan time.Time)
	go c.Upkeep(t.Context(), ticks)
	return db, ticks
}

// The log of a larger store may grow to a quarter of its tables before it is flushed.
func TestLogGrowsWithTables(t *testing.T) {
	db, ticks := openKept(t, 16<<20)
	random := rand.New(rand.NewPCG(1, 3))
	write := func(from, to int) {
		t.Helper()
		b := db.NewBatch()
		for i := from; i < to; i++ {
			value := make([]byte, 1<<10)
			for j := 0; j < len(value); j += 8 {
				binary.NativeEndian.PutUint64(value[j:], random.Uint64())
			}
			fatal.If(t, b.Set(binary.BigEndian.AppendUint16([]byte{1}, uint16(i)), value, nil))
		}
		fatal.If(t, b.Commit(pebble.NoSync))
	}
	write(0, 6<<10) // 6 MiB
	fatal.If(t, db.Flush())
	now := time.Unix(0, 0)
	logAfter := func() uint64 {
		now = now.Add(engine.UpkeepInterval)
		ticks <- now
		ticks <- now // has looked at it
		return db.Metrics().WAL.Size
	}
	write(6<<10, 7<<10)
	if log := logAfter(); log < 1<<20 {
		t.Errorf("a log of a sixth of the tables was flushed to %d bytes", log)
	}
	write(7<<10, 8<<10)
	if log := logAfter(); log > 0 {
		t.Errorf("a log of a third of the tables stays, with %d bytes", log)
	}
}

// A small store in which as much lies above the last level as in it is compacted at the first tick since which nothing
// was written, and not at one that finds writes.
func TestSmallStoreInUseIsCompacted(t *testing.T) {
	db, ticks := openKept(t, 4<<20)
	random := rand.New(rand.NewPCG(1, 2))
	write := func(keys int) {
		t.Helper()
		for i := range keys {
			value := make([]byte, 1000)
			for j := range value {
				value[j] = byte(random.Uint32())
			}
			fatal.If(t, db.Set(binary.BigEndian.AppendUint16([]byte{1}, uint16(i)), value, pebble.NoSync))
		}
		fatal.If(t, db.Flush())
	}
	levels := func() (above, bottom uint64) {
		m := db.Metrics()
		for i := range m.Levels[:len(m.Levels)-1] {
			above += uint64(m.Levels[i].TablesSize)
		}
		return above, uint64(m.Levels[len(m.Levels)-1].TablesSize)
	}
	write(100)
	fatal.If(t, db.Compact(t.Context(), []byte{0}, []byte{0xff}, false))
	write(300) // one flush, by which Pebble compacts nothing
	now := time.Unix(0, 0)
	ticks <- now                       // finds the writes
	time.Sleep(100 * time.Millisecond) // a compaction takes less
	if above, bottom := levels(); above <= bottom || bottom == 0 {
		t.Fatalf("while it is written to, %d bytes lie above the last level, and %d in it", above, bottom)
	}
	ticks <- now // has looked at it
	ticks <- now
	if above, bottom := levels(); above > 0 || bottom > 320<<10 {
		t.Errorf("%d bytes lie above the last level, and %d in it", above, bottom)
	}
}

// A large store at rest is brought into its last level, a step at a tick, but not if it would write much to gain
// little.
func TestLargeStoreAtRest(t *testing.T) {
	db, ticks := openKept(t, 4<<20)
	now := time.Unix(0, 0)
	random := rand.New(rand.NewPCG(2, 2))
	const keys, valueBytes = 600, 64 << 10 // 37 MiB
	value := make([]byte, valueBytes)
	for i := 0; i < len(value); i += 8 {
		binary.NativeEndian.PutUint64(value[i:], random.Uint64())
	}
	write := func(n int, key func(i int) int) {
		t.Helper()
		for i := range n {
			binary.NativeEndian.PutUint64(value, random.Uint64())
			if err := db.Set(binary.BigEndian.AppendUint16([]byte{1}, uint16(key(i))), value,
				pebble.NoSync); err != nil {
				t.Fatal(err)
			}
		}
	}
	// aboveAtRest returns what lies above the last level after forty minutes without a write, and some ticks.
	aboveAtRest := func() (bytes int64) {
		t.Helper()
		for range 10 {
			ticks <- now
			now = now.Add(40 * time.Minute)
		}
		levels := db.Metrics().Levels
		for _, level := range levels[:len(levels)-1] {
			bytes += level.TablesSize
		}
		return bytes
	}
	write(keys, func(i int) int { return i })
	if above := aboveAtRest(); above > 0 {
		t.Errorf("filled: %d bytes above the last level", above)
	}
	write(keys/80, func(int) int { return random.IntN(keys) })
	if above := aboveAtRest(); above == 0 {
		t.Error("all was written again, for a few")
	}
}

// Deleted values give their room back within ticks and not within forty minutes, in a store of any size.
func TestDeletedValuesGiveRoomBack(t *testing.T) {
	for _, keys := range []int{16, 600} { // 1 MiB, which is small, and 37 MiB
		for _, ranges := range []bool{false, true} {
			db, ticks := openKept(t, 4<<20)
			now := time.Unix(0, 0)
			random := rand.New(rand.NewPCG(2, 3))
			value := make([]byte, 64<<10)
			key := func(i int) []byte { return binary.BigEndian.AppendUint16([]byte{1}, uint16(i)) }
			for i := range keys {
				for j := 0; j < len(value); j += 8 {
					binary.NativeEndian.PutUint64(value[j:], random.Uint64())
				}
				fatal.If(t, db.Set(key(i), value, pebble.NoSync))
			}
			for range 10 {
				ticks <- now
				now = now.Add(40 * time.Minute)
			}
			ticks <- now // the one before is done: it must not take the deletion for forty minutes old
			size := func() (bytes int64) {
				for _, level := range db.Metrics().Levels {
					bytes += level.TablesSize
				}
				return bytes
			}
			deleteOf := func(from, to int) {
				t.Helper()
				var err error
				if ranges {
					err = db.DeleteRange(key(from), key(to), pebble.NoSync)
				}
				for i := from; i < to && !ranges; i++ {
					err = errors.Join(err, db.Delete(key(i), pebble.NoSync))
				}
				fatal.If(t, errors.Join(err, db.Flush()))
			}
			all, compactions := size(), func() int64 { return db.Metrics().Compact.DefaultCount }
			before := compactions()
			deleteOf(0, keys/8) // too little to write the rest again, except where Pebble itself chooses to
			for range 10 {
				ticks <- now
				now = now.Add(10 * time.Second)
			}
			if n := compactions() - before; n > 0 {
				t.Errorf("%d keys: an eighth deleted, by ranges %v, and %d compactions", keys, ranges, n)
			}
			deleteOf(keys/8, keys*3/4)
			waitFor(t, fmt.Sprintf("the room of %d keys, by ranges %v", keys*3/4, ranges), func() bool {
				ticks <- now
				return size() < all*3/10
			})
		}
	}
}

// allocated is what the files of a folder take of the disk; those that are being removed may be gone already.
func allocated(t *testing.T, dir string) (bytes int64) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	fatal.If(t, err)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil {
			bytes += info.Sys().(*syscall.Stat_t).Blocks * 512
		}
	}
	return bytes
}

// A large batch, as checkpoints are, is in memory until it is flushed, and not until the next one comes.
func TestFlushedBatchIsLetGo(t *testing.T) {
	db, ticks := openKept(t, 256<<10)
	for round := range 5 {
		b := db.NewBatch()
		fatal.If(t, b.Set([]byte{byte(round)}, make([]byte, 1<<20), nil))
		kept := weak.Make(&b.Repr()[0])
		fatal.If(t, errors.Join(b.Commit(pebble.NoSync), b.Close()))
		waitFor(t, fmt.Sprintf("the memory of batch %d", round), func() bool { // Pebble flushes in the background
			ticks <- time.Unix(0, 0)
			runtime.GC()
			return kept.Value() == nil
		})
	}
	flushes := db.Metrics().Flush.Count
	for range 3 {
		ticks <- time.Unix(0, 0)
	}
	if more := db.Metrics().Flush.Count - flushes; more != 0 {
		t.Errorf("%d flushes of nothing", more)
	}
}
