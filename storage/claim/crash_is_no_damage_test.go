package claim_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// crashAt is a file system whose power fails before the nth change to it. Then left holds the disk's content: any share
// of the unsynced changes, by blocks of files and by names in folders, in no order. A removed file is back where its
// folder was not synced. That is more than a disk with a journal leaves, which keeps changes of names in their order:
// POSIX promises none, and btrfs and ext4's fast commits keep the names of files that were synced without those before.
type crashAt struct {
	memory *vfs.MemFS
	random *rand.Rand
	at     int

	mu   sync.Mutex
	n    int
	left *vfs.MemFS
}

// MaybeError implements errorfs.Injector: no error, but a look.
func (c *crashAt) MaybeError(op errorfs.Op) error {
	if op.Kind.ReadOrWrite() == errorfs.OpIsRead {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n++; c.n == c.at {
		c.left = c.memory.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: c.random.IntN(101), RNG: c.random})
	}
	return nil
}

func (c *crashAt) String() string { return "crash" }

// crashed reports whether the power has failed.
func (c *crashAt) crashed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.left != nil
}

// A power failure at any moment of writing, recording, closing, taking over and opening is never called damage, and
// what was synced before is there. Pebble's goroutines change files in no fixed order, and the file system throws its
// dice in that of a map: so no two runs are the same, and what is tested holds for each.
func TestCrashIsNoDamage(t *testing.T) {
	step := 2
	if testing.Short() {
		step = 9
	}
	changes, doubts := 0, 0
	for at := 1; ; at += step {
		random := rand.New(rand.NewPCG(uint64(at), 3))
		// Pebble's goroutines ask for the crash: its dice are not the writer's.
		crash := &crashAt{memory: vfs.NewCrashableMem(), random: rand.New(rand.NewPCG(uint64(at), 4)), at: at}
		fs := errorfs.Wrap(crash.memory, crash)
		durable := 0
		for epoch := uint64(1); epoch <= 4 && !crash.crashed(); epoch++ {
			recorder := engine.NewRecorder(fs) // of another process
			db, err := openEpoch(recorder, epoch)
			if err == nil {
				err = claim.MarkOpened(recorder, "", "index", epoch)
			}
			if err != nil {
				t.Fatal(at, err)
			}
			for step := range 12 {
				next := int(epoch)*100 + step
				fatal.If(t, db.Set(fmt.Appendf(nil, "%04d", next), make([]byte, random.IntN(20_000)),
					pebble.Sync))
				if !crash.crashed() {
					durable = next
				}
				if step%3 == 0 {
					err = recorder.Record()
				}
				if step == 5 {
					err = errors.Join(err, db.Flush())
				}
				if step == 9 {
					err = errors.Join(err, claim.RemoveOld(recorder, "index", epoch))
				}
				fatal.If(t, err)
			}
			if epoch == 4 { // without logs
				err = engine.Close(db, recorder, claim.Folder(recorder, "index", epoch))
			} else {
				err = db.Close()
			}
			if epoch%2 == 0 {
				err = errors.Join(err, recorder.Record(), claim.MarkClosed(recorder, "index", epoch))
			}
			fatal.If(t, err)
		}
		if !crash.crashed() {
			changes = at
			break
		}
		if err := claim.Check(crash.left, "", "index"); err != nil {
			t.Errorf("crash before change %d: %v", at, err)
		}
		recorder := engine.NewRecorder(crash.left)
		db, err := openEpoch(recorder, 6)
		if err != nil {
			t.Errorf("crash before change %d: %v", at, err)
			continue
		}
		if _, told := recorder.Opened("index/e6"); len(told) > 0 {
			doubts++
		}
		iter, err := db.NewIter(nil)
		fatal.If(t, err)
		if last := iter.Last(); durable > 0 && (!last || string(iter.Key()) < fmt.Sprintf("%04d", durable)) {
			t.Errorf("crash before change %d: %d was synced, and is gone", at, durable)
		}
		fatal.If(t, errors.Join(iter.Close(), db.Close()))
	}
	t.Logf("%d changes; after %d crashes the end of a file did not decode", changes, doubts)
}
