package engine_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// contents opens the store in dir and returns all its keys and values as text.
func contents(fs vfs.FS, dir string) (string, error) {
	db, err := engine.Open(dir, engine.Options{FS: fs, Fail: func(error) {}})
	if err != nil {
		return "", err
	}
	defer db.Close()
	iter, err := db.NewIter(nil)
	if err != nil {
		return "", err
	}
	defer iter.Close()
	var b strings.Builder
	for valid := iter.First(); valid; valid = iter.Next() {
		fmt.Fprintf(&b, "%s=%x\n", iter.Key(), iter.Value())
	}
	return b.String(), iter.Error()
}

// clone copies a file system, as it is when its process is killed.
func clone(t testing.TB, fs vfs.FS) *vfs.MemFS {
	t.Helper()
	copied := vfs.NewMem()
	if _, err := vfs.Clone(fs, copied, "", ""); err != nil {
		t.Fatal(err)
	}
	return copied
}

// put writes keys to an open store, each in a synced commit.
func put(t testing.TB, db *pebble.DB, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		fatal.If(t, db.Set(fmt.Appendf(nil, "%06d", i), bytes.Repeat([]byte{byte(i)}, i%200), pebble.Sync))
	}
}

func readAll(t testing.TB, fs vfs.FS, path string) []byte {
	t.Helper()
	file, err := fs.Open(path)
	fatal.If(t, err)
	defer file.Close()
	content, err := io.ReadAll(file)
	fatal.If(t, err)
	return content
}

func overwrite(t testing.TB, fs vfs.FS, path string, content []byte) {
	t.Helper()
	file, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	fatal.If(t, err)
	_, err = file.Write(content)
	fatal.If(t, errors.Join(err, file.Close()))
}

// recorded are the logs and manifests in a folder.
func recordedFiles(t testing.TB, fs vfs.FS, dir string) []string {
	t.Helper()
	names, err := fs.List(dir)
	fatal.If(t, err)
	var found []string
	for _, name := range names {
		if strings.HasSuffix(name, ".log") || strings.HasPrefix(name, "MANIFEST-") {
			found = append(found, name)
		}
	}
	return found
}

// flips calls f with copies of fs in each of which one bit of one file in dir is flipped: one bit of every step-th
// byte.
func flips(t *testing.T, fs vfs.FS, dir string, step int, f func(name string, offset int, damaged *vfs.MemFS)) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, name := range recordedFiles(t, fs, dir) {
		content := readAll(t, fs, fs.PathJoin(dir, name))
		for offset := random.IntN(step); offset < len(content); offset += step {
			damaged := clone(t, fs)
			flipped := bytes.Clone(content)
			flipped[offset] ^= 1 << random.IntN(8)
			overwrite(t, damaged, damaged.PathJoin(dir, name), flipped)
			f(name, offset, damaged)
		}
	}
}

// Check finds any flipped bit of bytes that were durable when the record was written. It finds a bit of later bytes, or
// reports a tail.
func TestFlippedBitsAreFound(t *testing.T) {
	for name, make := range map[string]func(t *testing.T, db *pebble.DB, record func()){
		"one log, recorded": func(t *testing.T, db *pebble.DB, record func()) {
			put(t, db, 0, 12)
			record()
		},
		"one record": func(t *testing.T, db *pebble.DB, record func()) {
			put(t, db, 7, 8)
			record()
		},
		"flushed between": func(t *testing.T, db *pebble.DB, record func()) {
			put(t, db, 0, 10)
			record()
			fatal.If(t, db.Flush())
			put(t, db, 10, 20)
		},
		"never recorded": func(t *testing.T, db *pebble.DB, record func()) { put(t, db, 0, 12) },
		"two blocks of a log": func(t *testing.T, db *pebble.DB, record func()) {
			put(t, db, 0, 150)
			record()
			put(t, db, 200, 500)
			record()
		},
	} {
		t.Run(name, func(t *testing.T) {
			memory := vfs.NewMem()
			recorder := engine.NewRecorder(memory)
			open := func() *pebble.DB {
				db, err := engine.Open("e1", engine.Options{FS: recorder})
				fatal.If(t, err)
				return db
			}
			if err := open().Close(); err != nil { // the log of a new store has another format
				t.Fatal(err)
			}
			db := open()
			defer db.Close()
			make(t, db, func() {
				fatal.If(t, recorder.Record())
			})
			killed := clone(t, memory)
			want, err := contents(clone(t, killed), "e1")
			fatal.If(t, err)
			if tails, err := engine.Check(killed, "e1"); len(tails) > 0 || err != nil {
				t.Fatal("before any damage:", tails, err)
			}
			step := 1
			if strings.HasPrefix(name, "two") {
				step = 53
			}
			if testing.Short() {
				step *= 7
			}
			trials, found, tails := 0, 0, 0
			flips(t, killed, "e1", step, func(file string, offset int, damaged *vfs.MemFS) {
				trials++
				unproven, err := engine.Check(damaged, "e1")
				if err != nil && !errors.Is(err, storage.ErrCorrupt) {
					t.Fatal(err)
				}
				got, openErr := contents(damaged, "e1")
				switch {
				case openErr != nil && !errors.Is(openErr, storage.ErrCorrupt):
					t.Errorf("byte %d of %s: not a storage.ErrCorrupt: %v", offset, file, openErr)
				case err != nil && openErr != nil:
					found++
				case err == nil && len(unproven) > 0:
					tails++
				case (err == nil) != (openErr == nil):
					t.Errorf("byte %d of %s: Check says %v, Open %v", offset, file, err, openErr)
				case got != want:
					t.Errorf("byte %d of %s: the damage is not noticed", offset, file)
				}
			})
			t.Logf("%d flips: %d found, %d in a tail that cannot be proved", trials, found, tails)
			if (name == "one log, recorded" || name == "one record") && tails > 0 {
				t.Errorf("%d flips were called unprovable; all was recorded", tails)
			}
		})
	}
}

// A power cut while a store without a record is opened again leaves it in order: its marker may name the earlier
// manifest still.
func TestRecordOfAnOpeningThatIsCutShort(t *testing.T) {
	before := testnode.NewCrashableFS()
	db, err := engine.Open("store", engine.Options{FS: before})
	fatal.If(t, err)
	put(t, db, 0, 10)
	fatal.If(t, db.Close())
	cuts := 0
	var mu sync.Mutex // Pebble also writes in the background
	fs := before.CrashClone(vfs.CrashCloneCfg{})
	var recorder *engine.Recorder
	recorder = engine.NewRecorder(errorfs.Wrap(fs, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() != errorfs.OpIsWrite || strings.Contains(op.Path, ".written") {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		if err := recorder.Record(); err != nil {
			t.Error(err)
		}
		for range 3 { // what is not synced is there in part
			cuts++
			rng := rand.New(rand.NewPCG(1, uint64(cuts)))
			cut := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: rng})
			overwrite(t, cut, "store.written", readAll(t, fs, "store.written"))
			if _, err := engine.Check(cut, "store"); err != nil {
				t.Errorf("before %v: %v", op, err)
			}
		}
		return nil
	})))
	if db, err = engine.Open("store", engine.Options{FS: recorder}); err != nil {
		t.Fatal(err)
	}
	fatal.If(t, db.Close())
	if cuts < 20 {
		t.Errorf("%d power cuts", cuts)
	}
}
