package engine_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// reuses is a file system that tells of the writes to logs that were used before.
type reuses struct {
	vfs.FS
	before func(offset, end int64)
}

func (fs *reuses) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := fs.FS.ReuseForWrite(oldname, newname, category)
	return &reused{file, fs}, err
}

type reused struct {
	vfs.File
	fs *reuses
}

func (f *reused) WriteAt(p []byte, offset int64) (int, error) {
	f.fs.before(offset, offset+int64(len(p)))
	return f.File.WriteAt(p, offset)
}

func (f *reused) SyncData() error {
	f.fs.before(0, 0)
	return f.File.SyncData()
}

// logRecord is record i of a test, with a random length.
func logRecord(i int) (key, value []byte) {
	rng := rand.New(rand.NewPCG(2, uint64(i)))
	return binary.BigEndian.AppendUint32(nil, uint32(i)), bytes.Repeat([]byte{byte(i)}, rng.IntN(9000))
}

// hasRecords checks that a store has the first n records at least, as they were.
func hasRecords(t *testing.T, db *pebble.DB, n int) {
	t.Helper()
	for i := range n {
		key, want := logRecord(i)
		got, closer, err := db.Get(key)
		if err != nil {
			t.Fatalf("record %d of %d: %v", i, n, err)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("record %d of %d is another", i, n)
		}
		closer.Close()
	}
}

// After a crash before any write or sync of a log that is written over an old one, a store has all that was
// acknowledged. Each write ends with a block, so that none is read for it.
func TestLogsWrittenOver(t *testing.T) {
	const records = 120
	for at := int64(1); ; at += 3 {
		memory := testnode.NewCrashableFS()
		var changes, unaligned atomic.Int64
		var acknowledged, then atomic.Int32
		var crashed atomic.Pointer[vfs.MemFS]
		fs := &reuses{FS: memory, before: func(offset, end int64) {
			if end%4096 != 0 {
				unaligned.Add(1)
			}
			if changes.Add(1) == at {
				then.Store(acknowledged.Load())
				crashed.Store(memory.CrashClone(
					vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: rand.New(rand.NewPCG(1, uint64(at)))}))
			}
		}}
		old := new(engine.OldLogs)
		options := engine.Options{FS: engine.NewRecorder(engine.WholeBlocks(fs)), MemTableSize: 64 << 10, OldLogs: old}
		db, err := engine.Open("store", options)
		fatal.If(t, err)
		for i := range records {
			key, value := logRecord(i)
			fatal.If(t, db.Set(key, value, pebble.Sync))
			acknowledged.Store(int32(i + 1))
			if i%30 == 29 {
				fatal.If(t, db.Flush())
				waitFor(t, "an old log", func() bool { return old.Bytes() > 0 })
			}
		}
		hasRecords(t, db, records)
		fatal.If(t, db.Close())
		if n := unaligned.Load(); n > 0 {
			t.Fatalf("%d of %d writes end within a block", n, changes.Load())
		}
		clone := crashed.Load()
		if clone == nil {
			if at < 60 {
				t.Fatalf("%d writes and syncs of logs that were used before", changes.Load())
			}
			return
		}
		if db, err = engine.Open("store", engine.Options{FS: clone}); err != nil {
			t.Fatalf("crash at change %d, after record %d: %v", at, then.Load(), err)
		}
		hasRecords(t, db, int(then.Load()))
		fatal.If(t, db.Close())
	}
}
