package backup_test

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/backup"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/seedtest"
)

var lawRounds = flag.Int("backup.rounds", 12, "rounds of the laws of backups and of those that follow")

// storeNames are those of a dataFolder.
var storeNames = []string{"incoming/0a", "sacks/000", "sacks/001", "index"}

func epochOne(data, store string) string { return filepath.Join(data, store, "e1") }

// grow adds something to every store, and leaves the folder as servers leave it: noted and recorded.
func (d *dataFolder) grow(random *rand.Rand) {
	for sack := range 2 {
		inSack(d.t, d.path, sack, func(s *archive.Store) {
			c := s.NewCheckpoint()
			for range 20 {
				value := make([]byte, 1<<10)
				for i := range value {
					value[i] = byte(random.Uint32())
				}
				c.Quarantine("source", random.Uint64(), value)
			}
			must(d.t, c.Commit())
			if random.IntN(2) == 0 {
				must(d.t, s.DB().Flush())
			}
		})
	}
	d.inIndex(func(s *index.Store) {
		must(d.t, s.CreateArchivePolicyRule(d.t.Context(), &model.ArchivePolicyRule{Name: fmt.Sprint(random.Uint64()),
			MetricPattern: "*", ArchivePolicyName: "low"}))
	})
	store := openIncoming(d.t, d.path)
	m := &model.Measures{Metrics: []uuid.UUID{{byte(random.Uint32())}}, Offsets: []int{0, 1},
		Timestamps: []carbonara.Timestamp{carbonara.Timestamp(random.Int64())}, Values: []float64{1}}
	must(d.t, store.Append(d.t.Context(), []incoming.Block{{Data: incoming.AppendBlock(nil, m, []int{0}, time.Now())}}))
	must(d.t, store.Close())
	for _, name := range storeNames {
		must(d.t, claim.NoteStore(vfs.Default, d.path, name, datafolder.FormatOf(name)))
		must(d.t, engine.RecordFolder(vfs.Default, epochOne(d.path, name), nil))
	}
}

// contents returns all that the stores of a data folder hold.
func contents(t *testing.T, data string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	for _, name := range storeNames[1:] {
		options := engine.Options{ReadOnly: true, Unchecked: true}
		if strings.HasPrefix(name, "sacks/") {
			options.Merger = archive.NewMerger()
		}
		db, err := engine.Open(epochOne(data, name), options)
		must(t, err)
		_, err = engine.Walk(db, nil, func(key, value []byte) error {
			found[name+string(key)] = string(value)
			return nil
		})
		must(t, errors.Join(err, db.Close()))
	}
	store := openIncoming(t, data) // of a copy: it raises the epoch
	records, err := store.Drain(0, 0, 1<<20)
	must(t, err)
	for _, r := range records {
		found[fmt.Sprint("incoming/", r.Sequence)] = fmt.Sprint(r)
	}
	must(t, store.Close())
	return found
}

// anyFile returns a random file below a folder that match accepts, "" without one.
func anyFile(random *rand.Rand, dir string, match func(name string) bool) string {
	var found []string
	_ = filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && match(entry.Name()) {
			found = append(found, path)
		}
		return nil
	})
	if len(found) == 0 {
		return ""
	}
	return found[random.IntN(len(found))]
}

// damage flips a bit of a file, or cuts or removes it.
func damage(t *testing.T, random *rand.Rand, path string) string {
	content, err := os.ReadFile(path)
	must(t, err)
	switch kind := random.IntN(6); {
	case kind == 0:
		must(t, os.Remove(path))
		return "removed " + path
	case kind == 1 && len(content) > 0:
		must(t, os.Truncate(path, random.Int64N(int64(len(content)))))
		return "cut " + path
	case len(content) > 0:
		content[random.IntN(len(content))] ^= 1 << random.IntN(8)
		must(t, os.WriteFile(path, content, 0o640))
		return "flipped a bit of " + path
	}
	return "left " + path
}

// disturb does one of the things that happen to data folders and repositories, and says which.
func disturb(t *testing.T, random *rand.Rand, data, to string) string {
	store := storeNames[random.IntN(len(storeNames))]
	dir := filepath.Join(data, store)
	if random.IntN(2) == 0 {
		return confuse(t, random, data, to)
	}
	switch random.IntN(8) {
	case 0:
		must(t, os.RemoveAll(dir))
		return "lost " + store
	case 1:
		must(t, os.RemoveAll(epochOne(data, store)))
		must(t, os.MkdirAll(epochOne(data, store), 0o750)) // it may be lost already
		return "emptied " + store
	case 2: // a table that came last: no backup has it
		sack := epochOne(data, storeNames[1+random.IntN(2)])
		newest := ""
		tables, _ := filepath.Glob(filepath.Join(sack, "*.sst"))
		for _, table := range tables {
			newest = max(newest, table)
		}
		if newest != "" {
			return damage(t, random, newest)
		}
		return "nothing"
	case 3:
		return damage(t, random, anyFile(random, filepath.Join(data, storeNames[random.IntN(4)], "e1"),
			func(name string) bool { return strings.HasPrefix(name, "MANIFEST-") || strings.HasSuffix(name, ".log") }))
	case 4, 5:
		return damage(t, random, anyFile(random, filepath.Join(to, "objects"), func(string) bool { return true }))
	case 6:
		if manifest := anyFile(random, filepath.Join(to, "backups"), func(string) bool { return true }); manifest != "" {
			return damage(t, random, manifest)
		}
		return "nothing"
	default:
		must(t, os.WriteFile(filepath.Join(to, "backups", fmt.Sprint(random.Uint64(), ".json")), nil, 0o640))
		return "a stray file"
	}
}

// confuse leaves a file or folder where another kind of thing should be, or one that belongs elsewhere, and says which.
func confuse(t *testing.T, random *rand.Rand, data, to string) string {
	any := func(string) bool { return true }
	store := storeNames[random.IntN(len(storeNames))]
	place := func(path string, folder bool) {
		if must(t, os.MkdirAll(filepath.Dir(path), 0o750)); folder {
			must(t, os.MkdirAll(path, 0o750))
		} else {
			must(t, os.WriteFile(path, []byte("stray"), 0o640))
		}
	}
	instead := func(path string) string { // a folder, or a link that leads nowhere, in the place of a file
		if path == "" {
			return "nothing"
		}
		if must(t, os.Remove(path)); random.IntN(2) == 0 {
			must(t, os.Mkdir(path, 0o750))
			return "a folder at " + path
		}
		must(t, os.Symlink("/nowhere", path))
		return "a link at " + path
	}
	copyOver := func(dir, suffix string) string {
		match := func(name string) bool { return strings.HasSuffix(name, suffix) }
		from, over := anyFile(random, dir, match), anyFile(random, dir, match)
		if from == over {
			return "nothing"
		}
		content, err := os.ReadFile(from)
		must(t, err)
		must(t, os.WriteFile(over, content, 0o640))
		return from + " over " + over
	}
	switch kind := random.IntN(11); kind {
	case 0: // without a trace, but in earlier backups; an incoming store would be one that was drained
		store = storeNames[1+random.IntN(3)]
		for _, dir := range []string{"", "claims", "stores"} {
			must(t, os.RemoveAll(filepath.Join(data, dir, store)))
		}
		return "no trace of " + store
	case 1:
		name := []string{"e2", "e2.tmp", "e7", "e01", "e2.closed", "unproven-e1", "lost+found"}[random.IntN(7)]
		folder := random.IntN(2) == 0
		place(filepath.Join(data, store, name), folder)
		return fmt.Sprintf("%s/%s, folder %v", store, name, folder)
	case 2:
		name := []string{"sacks/999", "sacks/abc", "incoming/.hidden", "incoming/0b", "claims/0x", "stores/sacks/777/1.1",
			"members/x", "clocks/x"}[random.IntN(8)]
		folder := random.IntN(2) == 0
		place(filepath.Join(data, name), folder)
		return fmt.Sprintf("%s, folder %v", name, folder)
	case 3:
		return instead(anyFile(random, epochOne(data, store), any))
	case 4:
		return instead(anyFile(random, filepath.Join(to, []string{"objects", "backups"}[random.IntN(2)]), any))
	case 5:
		return copyOver(epochOne(data, store), []string{".sst", ".log", ""}[random.IntN(3)])
	case 6:
		return copyOver(filepath.Join(to, []string{"objects", "backups"}[random.IntN(2)]), "")
	case 7: // other files than tables, logs and manifests
		path := anyFile(random, epochOne(data, store), func(name string) bool {
			return strings.HasPrefix(name, "OPTIONS-") || strings.HasPrefix(name, "marker.")
		})
		if path == "" {
			return "nothing"
		}
		return damage(t, random, path)
	case 8: // the record of a store
		must(t, os.RemoveAll(engine.RecordPath(epochOne(data, store))))
		return "no record of " + store
	case 9:
		name := []string{"objects", "backups"}[random.IntN(2)]
		must(t, os.RemoveAll(filepath.Join(to, name)))
		return "no " + name
	default:
		name := []string{"objects/zz", "objects/00/stray", "backups/folder/x.json", "successions/x", "tmp-1", "backups/tmp-2",
			"objects/tmp-3"}[random.IntN(7)]
		folder := random.IntN(2) == 0
		place(filepath.Join(to, name), folder)
		return fmt.Sprintf("%s in the repository, folder %v", name, folder)
	}
}

// The law of backups: one that says nothing of damage restores all of the folder, one that cannot says so, and then
// nothing that was there before is dropped.
func TestBackupSaysWhatItLacks(t *testing.T) {
	t.Parallel() // it waits for the disk
	random := rand.New(rand.NewPCG(seedtest.Next(t), 0))
	outcomes := make(map[string]int)
	for range *lawRounds {
		d := newDataFolder(t)
		to := filepath.Join(t.TempDir(), "backups")
		for range 1 + random.IntN(3) {
			d.grow(random)
			d.take(to)
		}
		d.grow(random)
		copied := filepath.Join(t.TempDir(), "copy")
		must(t, os.CopyFS(copied, os.DirFS(d.path)))
		truth := contents(t, copied)
		var done []string
		for range random.IntN(3) {
			done = append(done, disturb(t, random, d.path, to))
		}
		before, warned := intactBackups(t, to), false
		result, err := backup.Take(t.Context(), backup.Options{Data: d.path, To: backup.Folder(to),
			Keep: keepOne(t), Verify: random.IntN(2) == 0, Patience: 30 * time.Second,
			Warn: func(err error) { done, warned = append(done, err.Error()), true }})
		outcomes[outcome(err)]++
		after := intactBackups(t, to)
		fail := func(format string, args ...any) {
			t.Helper()
			t.Fatalf("%s: backup %v\n%s", fmt.Sprintf(format, args...), err, strings.Join(done, "\n"))
		}
		for name := range before {
			if (err != nil || warned) && !after[name] {
				fail("%s is gone", name)
			}
		}
		if result == nil {
			continue
		}
		r := backup.Open(backup.Folder(to), nil)
		m, findErr := r.Find(t.Context(), result.Name())
		if findErr != nil {
			fail("%v", findErr)
		}
		restored := filepath.Join(t.TempDir(), "restored")
		verifyErr, restoreErr := r.Verify(t.Context(), m), r.Restore(t.Context(), m, restored, false)
		switch {
		case err == nil && (verifyErr != nil || restoreErr != nil):
			fail("verified %v, restored %v", verifyErr, restoreErr)
		case err == nil:
			if found := contents(t, restored); !maps.Equal(found, truth) {
				fail("%d keys of %d", len(found), len(truth))
			}
		case !errors.Is(err, backup.ErrIncomplete) || verifyErr == nil || !errors.Is(restoreErr, backup.ErrIncomplete):
			fail("verified %v, restored %v", verifyErr, restoreErr)
		}
	}
	t.Log(outcomes)
}

func outcome(err error) string {
	switch {
	case err == nil:
		return "whole"
	case errors.Is(err, backup.ErrIncomplete):
		return "incomplete"
	}
	return "none"
}

func keepOne(t *testing.T) backup.Keep {
	keep, err := backup.ParseKeep("1")
	must(t, err)
	return keep
}

// intactBackups returns the names of the backups that can be restored whole.
func intactBackups(t *testing.T, to string) map[string]bool {
	t.Helper()
	r := backup.Open(backup.Folder(to), nil)
	names := make(map[string]bool)
	all, err := r.Backups(t.Context())
	if errors.Is(err, fs.ErrNotExist) {
		return names // nobody has made their folder again
	}
	must(t, err)
	for _, m := range all {
		if r.Verify(t.Context(), m) == nil {
			names[m.Name()] = true
		}
	}
	return names
}
