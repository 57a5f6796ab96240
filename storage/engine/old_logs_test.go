package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// waitFor waits for work of a store in the background.
func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	for until := time.Now().Add(2 * time.Minute); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("waited for: %s", what)
		}
	}
}

func logsOf(t *testing.T, fs vfs.FS, dir string) (count int) {
	t.Helper()
	names, err := fs.List(dir)
	fatal.If(t, err)
	for _, name := range names {
		if strings.HasSuffix(name, ".log") {
			count++
		}
	}
	return count
}

// Two logs at most are kept that are not needed any more, and none once the store rests, after any opening.
func TestOldLogs(t *testing.T) {
	fs, collector := vfs.NewMem(), engine.NewPebbleCollector()
	ticks := make(chan time.Time)
	go collector.Upkeep(t.Context(), ticks)
	written := 0
	for range 3 {
		old := new(engine.OldLogs)
		db, err := engine.Open("store", engine.Options{FS: fs, MemTableSize: 64 << 10, OldLogs: old})
		fatal.If(t, err)
		collector.Register("incoming", db, 8<<20, old)
		write := func(n int) {
			t.Helper()
			for range n {
				key, value := logRecord(written)
				fatal.If(t, db.Set(key, value, pebble.NoSync))
				written++
			}
		}
		write(200) // a dozen memtables
		waitFor(t, "an old log, two at most", func() bool {
			return old.Bytes() > 0 && logsOf(t, fs, "store") <= 3
		})
		now := time.Unix(0, 0)
		waitFor(t, "a store at rest with the log that it needs", func() bool {
			ticks <- now
			now = now.Add(20 * time.Minute)
			return logsOf(t, fs, "store") == 1
		})
		if n := old.Bytes(); n != 0 {
			t.Errorf("%d bytes of old logs at rest", n)
		}
		write(50)
		hasRecords(t, db, written)
		collector.Unregister(db)
		if err := db.Close(); err != nil { // as if killed: its logs stay
			t.Fatal(err)
		}
	}
}

// A store that is written to at full speed, and closed in order, leaves no old log.
func TestNoOldLogsAfterClose(t *testing.T) {
	fs := vfs.NewMem()
	db, err := engine.Open("store", engine.Options{FS: fs, MemTableSize: 256 << 10, OldLogs: new(engine.OldLogs)})
	fatal.If(t, err)
	for i := range 400 {
		key, value := logRecord(i)
		fatal.If(t, db.Set(key, value, pebble.NoSync))
	}
	hasRecords(t, db, 400)
	fatal.If(t, engine.Close(db, fs, "store"))
	if n := logsOf(t, fs, "store"); n > 0 {
		t.Errorf("%d logs", n)
	}
}
