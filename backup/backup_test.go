package backup_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/backup"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/storage/index"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// dataFolder is one of two sacks, with an index, an incoming store that has given a record, and a sack.
type dataFolder struct {
	t        *testing.T
	path     string
	source   string // ID of the incoming store
	sequence uint64 // of the record
}

func newDataFolder(t *testing.T) *dataFolder {
	d := &dataFolder{t: t, path: filepath.Join(t.TempDir(), "data")}
	_, _, err := datafolder.Init(d.path, datafolder.Terms{Sacks: 2, Coordination: datafolder.CoordinationFile})
	must(t, err)
	d.inIndex(func(*index.Store) {})
	store := openIncoming(t, d.path)
	m := &model.Measures{Metrics: []uuid.UUID{{1}}, Offsets: []int{0, 1},
		Timestamps: []carbonara.Timestamp{1e18}, Values: []float64{1}}
	must(t, store.Append(t.Context(), []incoming.Block{{Data: incoming.AppendBlock(nil, m, []int{0}, time.Now())}}))
	d.source, d.sequence = store.ID(), store.Last(0)
	must(t, store.Close())
	return d
}

func (d *dataFolder) inIndex(f func(*index.Store)) {
	d.t.Helper()
	store, err := index.Open(filepath.Join(d.path, "index", "e1"), index.Options{})
	must(d.t, err)
	f(store)
	must(d.t, store.Close())
}

func openIncoming(t *testing.T, data string) *incoming.Store {
	t.Helper()
	store, err := incoming.Open(filepath.Join(data, "incoming", "0a", "e1"), incoming.Options{Sacks: 2})
	must(t, err)
	return store
}

// inSack calls f with a sack.
func inSack(t *testing.T, data string, number int, f func(*archive.Store)) {
	t.Helper()
	store, err := archive.Open(filepath.Join(data, datafolder.SackName(number), "e1"),
		archive.Options{Sack: archive.Sack{Number: number, Of: 2}})
	must(t, err)
	f(store)
	must(t, store.Close())
}

func (d *dataFolder) take(to string) *backup.Result {
	d.t.Helper()
	result, err := backup.Take(d.t.Context(), backup.Options{Data: d.path, To: backup.Folder(to)})
	must(d.t, err)
	return result
}

func restore(t *testing.T, from, name, to string) error {
	t.Helper()
	r := backup.Open(backup.Folder(from), nil)
	m, err := r.Find(t.Context(), name)
	must(t, err)
	return r.Restore(t.Context(), m, to, false)
}

// A sack of a backup may have consumed more from an incoming store than the backup has of that.
func TestRestoredStoresGiveNoSequenceTwice(t *testing.T) {
	d := newDataFolder(t)
	to, restored := filepath.Join(t.TempDir(), "backups"), filepath.Join(t.TempDir(), "restored")
	mark := d.sequence + 3<<40 // three openings later
	inSack(t, d.path, 1, func(s *archive.Store) {
		c := s.NewCheckpoint()
		c.SetMark(d.source, mark)
		must(t, c.Commit())
	})
	d.take(to)
	must(t, restore(t, to, "", restored))
	inSack(t, restored, 1, func(s *archive.Store) {
		if found, err := s.Mark(d.source); err != nil || found != mark {
			t.Errorf("mark %d, %v", found, err)
		}
	})
	store := openIncoming(t, restored)
	defer store.Close()
	records, err := store.Drain(0, 0, 1<<20)
	if err != nil || len(records) != 1 || records[0].Sequence != d.sequence || store.ID() != d.source {
		t.Errorf("%d records, %v", len(records), err)
	}
	must(t, store.Append(t.Context(), []incoming.Block{{Sack: 1, Data: incoming.AppendBlock(nil,
		&model.Measures{Metrics: []uuid.UUID{{2}}, Offsets: []int{0, 0}}, []int{0}, time.Now())}}))
	if store.Last(1) <= mark {
		t.Errorf("sequence %d is not above mark %d", store.Last(1), mark)
	}
	was, err := (&datafolder.Folder{Path: d.path}).ReadClusterFile()
	must(t, err)
	is, err := (&datafolder.Folder{Path: restored}).ReadClusterFile()
	must(t, err)
	if is.ID == was.ID || is.Sacks != 2 {
		t.Errorf("restored cluster %+v of %+v", is, was)
	}
}

// A table that an earlier backup has is neither read nor written again.
func TestTablesAreStoredOnce(t *testing.T) {
	d := newDataFolder(t)
	to := filepath.Join(t.TempDir(), "backups")
	inSack(t, d.path, 0, func(s *archive.Store) {
		c := s.NewCheckpoint()
		for i := range 200 {
			c.Quarantine("source", uint64(i), make([]byte, 1<<10)) // so much that it is a table
		}
		must(t, c.Commit())
	})
	tables, err := filepath.Glob(filepath.Join(d.path, "sacks", "000", "e1", "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatal("the sack has no table", err)
	}
	unfinished := filepath.Join(d.path, "sacks", "000", "e1", "900000.sst") // by a flush or a compaction
	must(t, os.WriteFile(unfinished, []byte("x"), 0o640))
	first := d.take(to)
	for _, store := range first.Stores {
		if slices.ContainsFunc(store.Files, func(f backup.File) bool { return f.Name == "900000.sst" }) {
			t.Error("a table that is being written is in the backup")
		}
	}
	info, err := os.Stat(tables[0])
	must(t, err)
	must(t, os.Truncate(tables[0], 0)) // the second backup reads none of its bytes
	must(t, os.Truncate(tables[0], info.Size()))
	must(t, os.Chtimes(tables[0], time.Time{}, info.ModTime()))
	second := d.take(to)
	if second.Written != 0 || second.Name() == first.Name() {
		t.Errorf("%d bytes of an unchanged folder, after %d", second.Written, first.Written)
	}
}

// A flipped bit in any file of a backup is noticed, by a restore that says so. The next backup stores the file again.
func TestDamagedBackups(t *testing.T) {
	d := newDataFolder(t)
	inSack(t, d.path, 0, func(*archive.Store) {})
	to := filepath.Join(t.TempDir(), "backups")
	d.take(to)
	objects, err := filepath.Glob(filepath.Join(to, "objects", "*", "*"))
	must(t, err)
	for _, object := range objects {
		content, err := os.ReadFile(object)
		must(t, err)
		if len(content) == 0 {
			continue
		}
		content[len(content)/2] ^= 4
		must(t, os.WriteFile(object, content, 0o640))
		r := backup.Open(backup.Folder(to), nil)
		m, err := r.Find(t.Context(), "")
		must(t, err)
		if err := r.Verify(t.Context(), m); !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("verified: %v", err)
		}
		restored := filepath.Join(t.TempDir(), "restored")
		if err := r.Restore(t.Context(), m, restored, false); !errors.Is(err, backup.ErrIncomplete) ||
			!errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("restored: %v", err)
		}
		warnings := 0
		_, err = backup.Take(t.Context(), backup.Options{Data: d.path, To: backup.Folder(to), Verify: true,
			Warn: func(error) { warnings++ }})
		if err != nil || warnings != 1 {
			t.Errorf("%d warnings, %v", warnings, err)
		}
		must(t, r.Verify(t.Context(), m))
		restored = filepath.Join(t.TempDir(), "restored")
		must(t, restore(t, to, "", restored))
		if err := restore(t, to, "", restored); err == nil {
			t.Error("restored into a folder that is in use")
		}
	}
	manifests, err := filepath.Glob(filepath.Join(to, "backups", "*.json"))
	must(t, err)
	content, err := os.ReadFile(manifests[0])
	must(t, err)
	must(t, os.WriteFile(manifests[0], []byte(strings.Replace(string(content), `"sacks":2`, `"sacks":3`, 1)), 0o640))
	r := backup.Open(backup.Folder(to), nil)
	warnings := 0
	r.Warn = func(err error) {
		if warnings++; !errors.Is(err, storage.ErrCorrupt) {
			t.Error(err)
		}
	}
	if m, err := r.Find(t.Context(), ""); err != nil || manifests[0] == filepath.Join(to, "backups", m.Name()+".json") ||
		warnings != 1 {
		t.Errorf("beside a damaged manifest: %v, %d warnings", err, warnings)
	}
}

// A log that the repository has damaged is not taken for one that a crash cut short: no server drops what is behind.
func TestDamagedLogStaysDamaged(t *testing.T) {
	d := newDataFolder(t)
	to, restored := filepath.Join(t.TempDir(), "backups"), filepath.Join(t.TempDir(), "restored")
	for _, store := range d.take(to).Stores {
		for _, f := range store.Files {
			if store.Name == "incoming/0a" && strings.HasSuffix(f.Name, ".log") && f.Bytes > 0 {
				must(t, os.Truncate(filepath.Join(to, "objects", f.Sum[:2], f.Sum[2:]), f.Bytes-3))
			}
		}
	}
	if err := restore(t, to, "", restored); !errors.Is(err, backup.ErrIncomplete) {
		t.Errorf("restored: %v", err)
	}
	if _, err := engine.Check(vfs.Default, filepath.Join(restored, "incoming", "0a", "e1")); !errors.Is(err,
		storage.ErrCorrupt) {
		t.Errorf("the restored store: %v", err)
	}
}

// A manifest is not trusted, although its name has its checksum.
func TestHostileManifests(t *testing.T) {
	d := newDataFolder(t)
	first := d.take(filepath.Join(t.TempDir(), "backups"))
	text, err := json.Marshal(first.Manifest)
	must(t, err)
	f := func(old, replacement string) {
		t.Helper()
		hostile := regexp.MustCompile(old).ReplaceAll(text, []byte(replacement))
		if bytes.Equal(hostile, text) {
			t.Fatalf("%s is not there", old)
		}
		sum := sha256.Sum256(hostile)
		name := "20300101T000000Z-" + hex.EncodeToString(sum[:8])
		to := filepath.Join(t.TempDir(), "backups")
		must(t, os.MkdirAll(filepath.Join(to, "objects"), 0o750))
		must(t, os.MkdirAll(filepath.Join(to, "backups"), 0o750))
		must(t, os.WriteFile(filepath.Join(to, "backups", name+".json"), hostile, 0o640))
		r := backup.Open(backup.Folder(to), nil)
		m, err := r.Find(t.Context(), name)
		data := filepath.Join(t.TempDir(), "data")
		if err == nil {
			if err := r.Verify(t.Context(), m); err == nil {
				t.Errorf("%s: verified", replacement)
			}
			err = r.Restore(t.Context(), m, data, false)
		}
		if _, there := os.Stat(data); err == nil || there == nil {
			t.Errorf("%s: %v, %v", replacement, err, there)
		}
	}
	f(`"sha256":"[^"]*"`, `"sha256":""`)
	f(`"sha256":"[^"]*"`, `"sha256":"zz"`)
	f(`"sha256":"..`, `"sha256":"../`)
	f(`"sacks":2`, `"sacks":-1`)
	f(`"sacks":2`, `"sacks":1000000000000`)
	f(`"name":"index"`, `"name":"../index"`)
	f(`"name":"index"`, `"name":"sacks/001"`)
	f(`"name":"MANIFEST`, `"name":"../MANIFEST`)
	f(`"bytes":`, `"bytes":-`)
	f(`"expected":\[[^]]*\]`, `"expected":[]`)
	f(`"expected":\[`, `"expected":["sacks/001",`)
	f(`"stores":.*`, `"stores":[]}`)
	f(`"format":2`, `"format":1`) // no release wrote it
	f(`"format":2`, `"format":4`)
}

// The index and the archives must agree on schemas: a backup waits for rebuilds.
func TestRebuildsAreWaitedFor(t *testing.T) {
	d := newDataFolder(t)
	d.inIndex(func(s *index.Store) {
		_, err := s.RebuildPolicy(t.Context(), "low", time.Now())
		must(t, err)
	})
	to := filepath.Join(t.TempDir(), "backups")
	_, err := backup.Take(t.Context(), backup.Options{Data: d.path, To: backup.Folder(to), Patience: time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), "being rebuilt") {
		t.Errorf("during a rebuild: %v", err)
	}
}

func TestRefusedBackups(t *testing.T) {
	d := newDataFolder(t)
	f := func(data, to, want string) {
		t.Helper()
		_, err := backup.Take(context.Background(), backup.Options{Data: data, To: backup.Folder(to)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s to %s: %v, want %s", data, to, err, want)
		}
	}
	f(d.path, filepath.Join(d.path, "backups"), "within")
	f(d.path, filepath.Dir(d.path), "within")
	link := func(to string) string {
		path := filepath.Join(t.TempDir(), "link")
		must(t, os.Symlink(to, path))
		return path
	}
	f(d.path, link(d.path), "within")
	f(d.path, filepath.Join(link(d.path), "b"), "within")
	f(link(d.path), filepath.Join(d.path, "b"), "within")
	f(d.path, filepath.Join(link(filepath.Dir(d.path)), "data", "b"), "within")
	outside := t.TempDir() // a link out of the data folder, and the repository where it leads
	must(t, os.Rename(filepath.Join(d.path, "incoming"), filepath.Join(outside, "incoming")))
	must(t, os.Symlink(filepath.Join(outside, "incoming"), filepath.Join(d.path, "incoming")))
	f(d.path, filepath.Join(outside, "incoming", "b"), "within")
	parts := t.TempDir() // the repository's objects lie in the data folder
	must(t, os.Symlink(filepath.Join(d.path, "index"), filepath.Join(parts, "objects")))
	f(d.path, parts, "within")
	for _, name := range []string{"sacks", "sacks/001", "incoming/0a/e1"} { // that lies on another disk, say
		d, other := newDataFolder(t), filepath.Join(t.TempDir(), "other")
		inSack(t, d.path, 1, func(*archive.Store) {})
		must(t, os.Rename(filepath.Join(d.path, name), other))
		must(t, os.Symlink(other, filepath.Join(d.path, name)))
		f(d.path, filepath.Join(other, "backups"), "within")
	}
	f(t.TempDir(), filepath.Join(t.TempDir(), "backups"), "no such file")
}

func TestKeep(t *testing.T) {
	begin := time.Date(2026, 1, 1, 0, 30, 0, 0, time.UTC)
	f := func(text string, want int, newest ...int) { // of backups every six hours of 100 days, by number
		t.Helper()
		keep, err := backup.ParseKeep(text)
		must(t, err)
		var all []*backup.Manifest
		for i := range 400 {
			all = append(all, &backup.Manifest{Begun: begin.Add(time.Duration(i) * 6 * time.Hour)})
		}
		kept := keep.Kept(all)
		if len(kept) != want {
			t.Errorf("%s keeps %d", text, len(kept))
		}
		for i, number := range newest {
			if at := len(kept) - 1 - i; at < 0 || !kept[at].Begun.Equal(all[number].Begun) {
				t.Errorf("%s does not keep %d as the last but %d", text, number, i)
			}
		}
	}
	f("", 400)
	f("3", 3, 399, 398, 397)
	f("2d", 2, 399, 395)
	f("1h,2w", 2, 399, 379) // 2026-04-05 is a Sunday, 2026-04-10 a Friday
	f("7d,4w,12m", 7+2+3)
	f("1y", 1, 399)
	for _, text := range []string{"d", "0d", "7x", "7d,", "-1", "1.5d", "7dd"} {
		if _, err := backup.ParseKeep(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// A cluster's --keep is about its own backups, and those of clusters whose place it took.
func TestKeepLeavesOtherClusters(t *testing.T) {
	ours, theirs, replaced := newDataFolder(t), newDataFolder(t), newDataFolder(t)
	to := filepath.Join(t.TempDir(), "backups")
	first, gone := theirs.take(to), replaced.take(to)
	ours.take(to)
	r := backup.Open(backup.Folder(to), nil)
	must(t, r.Succeed(t.Context(), gone.Manifest))
	result, err := backup.Take(t.Context(), backup.Options{Data: ours.path, To: backup.Folder(to), Keep: keepOne(t)})
	must(t, err)
	all, err := r.Backups(t.Context())
	must(t, err)
	if len(all) != 2 || all[0].Name() != first.Name() || all[1].Name() != result.Name() || result.Dropped != 2 ||
		result.Others != 1 {
		t.Errorf("%d backups are left, %d dropped", len(all), result.Dropped)
	}
	must(t, restore(t, to, first.Name(), filepath.Join(t.TempDir(), "restored")))
}

// A file that cannot be opened takes no other with it.
func TestUnreadableFileIsLeftOut(t *testing.T) {
	d := newDataFolder(t)
	to, restored := filepath.Join(t.TempDir(), "backups"), filepath.Join(t.TempDir(), "restored")
	d.grow(rand.New(rand.NewPCG(1, 0)))
	inSack(t, d.path, 1, func(s *archive.Store) { must(t, s.DB().Flush()) })
	table := anyFile(rand.New(rand.NewPCG(2, 0)), epochOne(d.path, "sacks/001"),
		func(name string) bool { return strings.HasSuffix(name, ".sst") })
	must(t, os.Remove(table))
	must(t, os.Symlink("/nowhere", table))
	result, err := backup.Take(t.Context(), backup.Options{Data: d.path, To: backup.Folder(to), Patience: time.Second})
	if !errors.Is(err, backup.ErrIncomplete) || !strings.Contains(err.Error(), filepath.Base(table)) {
		t.Fatal(err)
	}
	if err := restore(t, to, result.Name(), restored); !errors.Is(err, backup.ErrIncomplete) {
		t.Errorf("restored: %v", err)
	}
	entries, err := os.ReadDir(epochOne(d.path, "sacks/001"))
	must(t, err)
	for _, entry := range entries {
		kind, _, _ := strings.Cut(entry.Name(), "-")
		if kind != "MANIFEST" && !strings.HasSuffix(entry.Name(), ".log") {
			continue
		}
		was, err := os.ReadFile(filepath.Join(epochOne(d.path, "sacks/001"), entry.Name()))
		must(t, err)
		is, err := os.ReadFile(filepath.Join(epochOne(restored, "sacks/001"), entry.Name()))
		if err != nil || !bytes.Equal(is, was) {
			t.Errorf("%s is %d bytes, and not %d: %v", entry.Name(), len(is), len(was), err)
		}
	}
}
