package claim_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

const (
	storeName = "sacks/007"
	storeDir  = "data/" + storeName
)

// openStore opens a Pebble store that lets a test end it in any way.
func openStore(t *testing.T, fs vfs.FS, dir string) *pebble.DB {
	t.Helper()
	db, err := engine.Open(dir, engine.Options{FS: fs, MemTableSize: 256 << 10, Fail: func(error) {}})
	fatal.If(t, err)
	return db
}

// fill writes synced keys, some of which come to lie in tables.
func fill(t *testing.T, db *pebble.DB, prefix string) {
	t.Helper()
	for i := range 60 {
		fatal.If(t, db.Set(fmt.Appendf(nil, "%s/%03d", prefix, i), make([]byte, 100), pebble.Sync))
		if i%20 == 15 {
			fatal.If(t, db.Flush())
		}
	}
}

func keys(t *testing.T, db *pebble.DB, prefix string) (n int) {
	t.Helper()
	iter, err := db.NewIter(&pebble.IterOptions{LowerBound: []byte(prefix + "/"), UpperBound: []byte(prefix + "0")})
	fatal.If(t, err)
	for iter.First(); iter.Valid(); iter.Next() {
		n++
	}
	fatal.If(t, iter.Close())
	return n
}

// hand is a way in which a store is left to its next holder.
type hand struct {
	name string
	end  func(t *testing.T, fs vfs.FS, db *pebble.DB)
}

var hands = []hand{
	{"killed", func(*testing.T, vfs.FS, *pebble.DB) {}},
	{"closed", func(t *testing.T, fs vfs.FS, db *pebble.DB) {
		fatal.If(t, errors.Join(db.Close(), claim.MarkClosed(fs, storeDir, 1)))
	}},
}

// leave makes a store and leaves it, on a file system as it was left.
func (h hand) leave(t *testing.T) *vfs.MemFS {
	fs := vfs.NewCrashableMem()
	fatal.If(t, fs.MkdirAll(storeDir+"/e1", 0o750))
	db := openStore(t, fs, storeDir+"/e1")
	fill(t, db, "a")
	h.end(t, fs, db)
	left := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))})
	if h.name == "killed" {
		fatal.If(t, db.Close())
	}
	return left
}

// A takeover or the removal behind it may die at any call, and the disk may then have any part of it. The next takeover
// has all.
func TestTakeOverDiesAtEveryCall(t *testing.T) {
	for _, h := range hands {
		t.Run(h.name, func(t *testing.T) {
			source := h.leave(t)
			for call := int64(1); ; call++ {
				for _, unsynced := range []int{0, 50, 100} {
					fs := source.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100,
						RNG: rand.New(rand.NewPCG(1, 1))})
					died := dieAt(t, fs, call)
					fs = fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: unsynced,
						RNG: rand.New(rand.NewPCG(uint64(call), 2))})
					path, err := claim.TakeOver(fs, "data", storeName, 3)
					if err != nil {
						t.Fatalf("call %d: %v", call, err)
					}
					db := openStore(t, fs, path)
					if n := keys(t, db, "a"); n != 60 {
						t.Fatalf("call %d, %d%% of what was not synced: %d keys", call, unsynced, n)
					}
					fatal.If(t, db.Close())
					if !died {
						t.Logf("%d calls", call-1)
						return
					}
				}
			}
		})
	}
}

// dieAt takes over at epoch 2 and removes what was before, and fails from the given call on.
func dieAt(t *testing.T, fs *vfs.MemFS, call int64) (died bool) {
	var calls atomic.Int64
	failing := errorfs.Wrap(fs, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if calls.Add(1) >= call {
			return errorfs.ErrInjected
		}
		return nil
	}))
	_, err := claim.TakeOver(failing, "data", storeName, 2)
	if err == nil {
		err = claim.RemoveOld(failing, storeDir, 2)
	}
	if err != nil && !errors.Is(err, errorfs.ErrInjected) {
		t.Fatalf("call %d: %v", call, err)
	}
	return err != nil
}

// stoppedClock is a test's.
type stoppedClock struct{ now atomic.Int64 }

func (c *stoppedClock) Now() time.Duration { return time.Duration(c.now.Load()) }

// Late writes of the last holder change nothing for the next one, also where the lease was asked just before.
func TestStaleHolderHarmsNobody(t *testing.T) {
	fs := vfs.NewMem()
	clock := new(stoppedClock)
	lease := claim.NewDeadline(clock, time.Second, 0)
	path, err := claim.TakeOver(claim.Fence(fs, lease), "data", storeName, 1)
	fatal.If(t, err)
	fenced := openStore(t, claim.Fence(fs, lease), path)
	fill(t, fenced, "a")
	late, err := claim.Fence(fs, lease).Create(path+"/000500.sst", vfs.WriteCategoryUnspecified)
	fatal.If(t, err)
	clock.now.Store(int64(time.Minute))

	second, err := claim.TakeOver(fs, "data", storeName, 2)
	fatal.If(t, err)
	db := openStore(t, fs, second)
	fill(t, db, "b")
	// The fence refuses:
	for what, err := range map[string]error{
		"create":  errorOf(claim.Fence(fs, lease).Create(path+"/x", vfs.WriteCategoryUnspecified)),
		"reuse":   errorOf(claim.Fence(fs, lease).ReuseForWrite(path+"/LOCK", path+"/x", vfs.WriteCategoryUnspecified)),
		"open":    errorOf(claim.Fence(fs, lease).OpenReadWrite(path+"/x", vfs.WriteCategoryUnspecified)),
		"lock":    errorOf(claim.Fence(fs, lease).Lock(path + "/x")),
		"link":    claim.Fence(fs, lease).Link(path+"/LOCK", path+"/x"),
		"rename":  claim.Fence(fs, lease).Rename(path+"/LOCK", path+"/x"),
		"remove":  claim.Fence(fs, lease).Remove(path + "/LOCK"),
		"all":     claim.Fence(fs, lease).RemoveAll(path),
		"folder":  claim.Fence(fs, lease).MkdirAll(path+"/x", 0),
		"write":   errorOf(late.Write([]byte("x"))),
		"writeat": errorOf(late.WriteAt([]byte("x"), 0)),
		"extend":  late.Preallocate(0, 10),
		"sync":    late.Sync(),
		"data":    late.SyncData(),
		"syncto":  errorOf(late.SyncTo(1)),
	} {
		if !errors.Is(err, claim.ErrLost) {
			t.Errorf("%s after the lease: %v", what, err)
		}
	}
	// A change that got past it before:
	fatal.If(t, fs.RemoveAll(path))
	fatal.If(t, db.Close())
	db = openStore(t, fs, second)
	if a, b := keys(t, db, "a"), keys(t, db, "b"); a != 60 || b != 60 {
		t.Errorf("%d and %d keys", a, b)
	}
	fatal.If(t, db.Close())
}

func errorOf[T any](_ T, err error) error { return err }

// A sync that was begun in time and returned too late is no success.
func TestSyncThatReturnsLate(t *testing.T) {
	clock := new(stoppedClock)
	lease := claim.NewDeadline(clock, time.Second, 0)
	slow := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpFileSync {
			clock.now.Store(int64(time.Minute))
		}
		return nil
	}))
	file, err := claim.Fence(slow, lease).Create("x", vfs.WriteCategoryUnspecified)
	fatal.If(t, err)
	if err := file.Sync(); !errors.Is(err, claim.ErrLost) {
		t.Errorf("sync: %v", err)
	}
	if lease.Renew(clock.Now()) {
		t.Error("a lease that was lost was renewed")
	}
	<-lease.Done()
}
