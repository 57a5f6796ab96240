package engine_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
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

// openFiles is a file system that knows which files are open and which locks are held.
type openFiles struct {
	vfs.FS
	mu   sync.Mutex
	open map[io.Closer]string
}

func (o *openFiles) add(closer io.Closer, name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.open[closer] = name
}

func (o *openFiles) close(wrapper, closer io.Closer) error {
	o.mu.Lock()
	delete(o.open, wrapper)
	o.mu.Unlock()
	return closer.Close()
}

func (o *openFiles) names() (names []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, name := range o.open {
		names = append(names, name)
	}
	return names
}

type openFile struct {
	vfs.File
	files *openFiles
}

func (f *openFile) Close() error { return f.files.close(f, f.File) }

func (o *openFiles) opened(name string, file vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	f := &openFile{file, o}
	o.add(f, name)
	return f, nil
}

func (o *openFiles) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := o.FS.Create(name, category)
	return o.opened(name, file, err)
}

func (o *openFiles) Open(name string, options ...vfs.OpenOption) (vfs.File, error) {
	file, err := o.FS.Open(name, options...)
	return o.opened(name, file, err)
}

func (o *openFiles) OpenDir(name string) (vfs.File, error) {
	file, err := o.FS.OpenDir(name)
	return o.opened(name, file, err)
}

type heldLock struct {
	io.Closer
	files *openFiles
}

func (l *heldLock) Close() error { return l.files.close(l, l.Closer) }

func (o *openFiles) Lock(name string) (io.Closer, error) {
	closer, err := o.FS.Lock(name)
	if err != nil {
		return nil, err
	}
	l := &heldLock{closer, o}
	o.add(l, name)
	return l, nil
}

const openMemTableSize = 64 << 10

// crashedStore returns a store that its holder left behind. It needs a compaction, and its log fills several memtables.
// The log deletes ranges, so that Pebble reads the tables to learn their statistics as soon as they are flushed.
func crashedStore(t *testing.T) *vfs.MemFS {
	t.Helper()
	fs := vfs.NewCrashableMem()
	path, err := claim.TakeOver(fs, "", "store", 1)
	fatal.If(t, err)
	db, err := engine.Open(path, engine.Options{FS: fs, L0CompactionThreshold: 30})
	fatal.If(t, err)
	defer db.Close()
	random := rand.New(rand.NewPCG(1, 1))
	set := func(n int) {
		for range n {
			value := make([]byte, 250)
			for i := range value {
				value[i] = byte(random.Uint32())
			}
			fatal.If(t, db.Set(fmt.Appendf(nil, "k%04d", random.IntN(5000)), value, pebble.NoSync))
		}
	}
	for range 6 {
		set(20)
		fatal.If(t, db.Flush())
	}
	for range 2 {
		set(200)
		fatal.If(t, db.DeleteRange([]byte("k1"), []byte("k2"), pebble.Sync))
	}
	return fs.CrashClone(vfs.CrashCloneCfg{})
}

// countedLease is lost after so many questions.
type countedLease struct {
	claim.Lease
	left atomic.Int64
}

func (l *countedLease) Valid() bool { return l.left.Add(-1) >= 0 }

func (l *countedLease) Err() error { return fmt.Errorf("test: %w", claim.ErrLost) }

// An opening that fails at any operation returns the error and leaves nothing open or running, or it ends the process
// by Fail. It never panics.
func TestOpenFails(t *testing.T) {
	cache, fileCache := pebble.NewCache(1<<20), pebble.NewFileCache(2, 50)
	errBroken := fmt.Errorf("%w: disk", errorfs.ErrInjected)
	injected := func(fs vfs.FS, fails func(operation int64) bool) (vfs.FS, func() int64) {
		var operations atomic.Int64
		return errorfs.Wrap(fs, errorfs.InjectorFunc(func(errorfs.Op) error {
			if fails(operations.Add(1)) {
				return errBroken
			}
			return nil
		})), operations.Load
	}
	kinds := []struct {
		name string
		// failing returns fs failing at operation n, and the number of operations so far.
		failing func(fs vfs.FS, n int64) (vfs.FS, func() int64)
	}{
		{"fence", func(fs vfs.FS, n int64) (vfs.FS, func() int64) {
			lease := new(countedLease)
			lease.left.Store(n - 1)
			return claim.Fence(fs, lease), func() int64 { return n - 1 - lease.left.Load() }
		}},
		{"once", func(fs vfs.FS, n int64) (vfs.FS, func() int64) {
			return injected(fs, func(operation int64) bool { return operation == n })
		}},
		{"from then on", func(fs vfs.FS, n int64) (vfs.FS, func() int64) {
			return injected(fs, func(operation int64) bool {
				if operation < n {
					return false
				}
				time.Sleep(time.Duration(rand.IntN(300)) * time.Microsecond) // other goroutines get here as well
				return true
			})
		}},
	}
	f := func(name string, store *vfs.MemFS) {
		for _, kind := range kinds {
			t.Run(name+"/"+kind.name, func(t *testing.T) {
				outcomes := make(map[string]int)
				for n := int64(1); ; n++ {
					files := &openFiles{FS: store.CrashClone(vfs.CrashCloneCfg{}), open: make(map[io.Closer]string)}
					fs, operations := kind.failing(files, n)
					outcomes[openOnce(t, n, files, engine.Options{FS: fs, Cache: cache, FileCache: fileCache})]++
					if operations() < n {
						break
					}
				}
				if outcomes["returned"] < 10 || outcomes["ended"] < 10 || outcomes["opened"] < 1 {
					t.Errorf("outcomes %v", outcomes)
				}
			})
		}
	}
	f("new", vfs.NewCrashableMem())
	f("taken over", crashedStore(t))
}

// openOnce takes over and opens a store that fails at operation n, and returns the outcome: "returned" an error,
// "ended" the process, or "opened".
func openOnce(t *testing.T, n int64, files *openFiles, options engine.Options) string {
	t.Helper()
	before := runtime.NumGoroutine()
	failed := make(chan error, 1)
	options.MemTableSize = openMemTableSize
	options.Fail = func(err error) {
		failed <- err
		select {} // the process has ended
	}
	done := make(chan struct{})
	outcome := "returned"
	var err error
	go func() {
		defer close(done)
		var path string
		if path, err = claim.TakeOver(options.FS, "", "store", 2); err != nil {
			return
		}
		var db *pebble.DB
		if db, err = engine.Open(path, options); err == nil {
			outcome = "opened"
			_ = db.Close() // it may fail
		}
	}()
	select {
	case err := <-failed:
		// Pebble makes a text of some causes.
		text := err.Error()
		if !strings.Contains(text, errorfs.ErrInjected.Error()) && !strings.Contains(text, claim.ErrLost.Error()) {
			t.Errorf("operation %d: ended by %v", n, err)
		}
		return "ended"
	case <-done:
	case <-time.After(2 * time.Minute):
		t.Fatalf("operation %d: opening does not return", n)
	}
	if outcome == "returned" && !errors.Is(err, errorfs.ErrInjected) && !errors.Is(err, claim.ErrLost) {
		t.Errorf("operation %d: returned %v", n, err)
	}
	for until := time.Now().Add(2 * time.Minute); runtime.NumGoroutine() > before || len(files.names()) > 0; {
		if time.Now().After(until) {
			t.Fatalf("operation %d, %s %v: open are %q; %d goroutines, %d before",
				n, outcome, err, files.names(), runtime.NumGoroutine(), before)
		}
		time.Sleep(100 * time.Microsecond)
	}
	return outcome
}

// Opening a store logs its possible losses as a warning.
func TestDoubtsAreLogged(t *testing.T) {
	fs := vfs.NewMem()
	db, err := engine.Open("e1", engine.Options{FS: fs})
	fatal.If(t, err)
	fatal.If(t, db.Close())
	for _, want := range []string{"", `level=WARN msg="the store may lack what was written last"`} {
		var log bytes.Buffer
		db, err := engine.Open("e1", engine.Options{FS: fs, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		fatal.If(t, err)
		fatal.If(t, db.Close())
		if got := log.String(); !strings.Contains(got, want) || want == "" && strings.Contains(got, "WARN") {
			t.Errorf("logged %q, want %q", got, want)
		}
		overwrite(t, fs, engine.RecordPath("e1"), []byte("damaged"))
	}
}
