package engine_test

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

const keysOfTable = 100

// addTable sets all keys to n, by a table.
func addTable(t *testing.T, tables *engine.Tables, n byte) error {
	return tables.Add(t.Context(), func(table *sstable.Writer) error {
		for i := range keysOfTable {
			if err := table.Set(binary.BigEndian.AppendUint16(nil, uint16(i)), []byte{n}); err != nil {
				return err
			}
		}
		return nil
	})
}

// tableOf returns which table's values a store has: all the same.
func tableOf(t *testing.T, db *pebble.DB) (n byte) {
	t.Helper()
	iter, err := db.NewIter(nil)
	fatal.If(t, err)
	defer iter.Close()
	keys := 0
	for ok := iter.First(); ok; ok = iter.Next() {
		if value := iter.Value()[0]; keys > 0 && value != n {
			t.Fatalf("key %d is of table %d, others of %d", keys, value, n)
		} else {
			n = value
		}
		keys++
	}
	if err := iter.Error(); err != nil || keys != 0 && keys != keysOfTable {
		t.Fatal(keys, err)
	}
	return n
}

func noTemporaryFiles(t *testing.T, fs vfs.FS) {
	t.Helper()
	names, err := fs.List("store")
	fatal.If(t, err)
	for _, name := range names {
		if strings.HasSuffix(name, ".dbtmp") {
			t.Error(name)
		}
	}
}

// After a crash at any change of a file a store has all added tables, and the one being added whole or not at all.
func TestTablesSurviveCrashes(t *testing.T) {
	for at := int64(0); ; at++ {
		fs := testnode.NewCrashableFS()
		rng := rand.New(rand.NewPCG(1, uint64(at)))
		var changes atomic.Int64
		var added, then atomic.Uint32 // tables; and when it crashed
		var crashed atomic.Pointer[vfs.MemFS]
		changing := errorfs.Wrap(fs, errorfs.InjectorFunc(func(op errorfs.Op) error {
			if op.Kind.ReadOrWrite() == errorfs.OpIsWrite && changes.Add(1) == at+1 {
				then.Store(added.Load())
				crashed.Store(fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: rng}))
			}
			return nil
		}))
		options := engine.Options{FS: engine.NewRecorder(changing)}
		db, err := engine.Open("store", options)
		fatal.If(t, err)
		changes.Store(0)
		crashed.Store(nil)
		tables := engine.NewTables(db, "store", options)
		for n := byte(1); n <= 6; n++ {
			if n%2 == 0 { // so that the memtable has one of its keys, with the value that the store has
				fatal.If(t, db.Set([]byte{0, 50}, []byte{n - 1}, pebble.Sync))
			}
			fatal.If(t, addTable(t, tables, n))
			added.Store(uint32(n))
		}
		if got := tableOf(t, db); got != 6 {
			t.Fatal(got)
		}
		noTemporaryFiles(t, fs)
		fatal.If(t, db.Close())
		clone := crashed.Load()
		if clone == nil {
			if at < 60 {
				t.Fatalf("%d changes of files", at)
			}
			return
		}
		db, err = engine.Open("store", engine.Options{FS: clone})
		if err != nil {
			t.Fatalf("crash at change %d: %v", at, err)
		}
		if got := uint32(tableOf(t, db)); got < then.Load() || got > then.Load()+1 {
			t.Fatalf("crash at change %d: table %d, %d were added", at, got, then.Load())
		}
		noTemporaryFiles(t, clone)
		fatal.If(t, db.Close())
	}
}

const neverFull = -1 << 40

// A table that finds no room on the disk leaves nothing behind, and the next one is taken.
func TestTablesOnFullDisk(t *testing.T) {
	for at := int64(1); ; at++ {
		fs := vfs.NewMem()
		var writes, failed atomic.Int64
		writes.Store(neverFull)
		full := errorfs.Wrap(fs, errorfs.InjectorFunc(func(op errorfs.Op) error {
			if strings.HasSuffix(op.Path, ".dbtmp") && op.Kind != errorfs.OpRemove && op.Kind != errorfs.OpLink &&
				op.Kind.ReadOrWrite() == errorfs.OpIsWrite && writes.Add(1) == at {
				failed.Add(1)
				return syscall.ENOSPC
			}
			return nil
		}))
		options := engine.Options{FS: full}
		db, err := engine.Open("store", options)
		fatal.If(t, err)
		tables := engine.NewTables(db, "store", options)
		fatal.If(t, addTable(t, tables, 1))
		writes.Store(0)
		err = addTable(t, tables, 2)
		writes.Store(neverFull)
		want := byte(1)
		if failed.Load() == 0 {
			want = 2
		} else if !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("write %d fails: %v", at, err)
		}
		if got := tableOf(t, db); got != want {
			t.Fatalf("write %d fails: table %d", at, got)
		}
		noTemporaryFiles(t, fs)
		if err := addTable(t, tables, 3); err != nil || tableOf(t, db) != 3 {
			t.Fatal(tableOf(t, db), err)
		}
		fatal.If(t, db.Close())
		if failed.Load() == 0 {
			if at < 4 {
				t.Fatalf("%d writes", at)
			}
			return
		}
	}
}
