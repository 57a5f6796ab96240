package backup_test

import (
	"errors"
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
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/tests/seedtest"
)

// age makes all files of a data folder look as if they were written so long before now.
func (d *dataFolder) age(by time.Duration) {
	d.t.Helper()
	must(d.t, filepath.WalkDir(d.path, func(path string, _ fs.DirEntry, err error) error {
		then := time.Now().Add(-by)
		return errors.Join(err, os.Chtimes(path, then, then))
	}))
}

// append puts measures into the incoming store alone.
func (d *dataFolder) append(n int) {
	d.t.Helper()
	store := openIncoming(d.t, d.path)
	for range n {
		m := &model.Measures{Metrics: []uuid.UUID{{1}}, Offsets: []int{0, 1}, Timestamps: []carbonara.Timestamp{1e18},
			Values: []float64{float64(n)}}
		block := incoming.AppendBlock(nil, m, []int{0}, time.Now())
		must(d.t, store.Append(d.t.Context(), []incoming.Block{{Data: block}}))
	}
	must(d.t, store.Close())
	must(d.t, engine.RecordFolder(vfs.Default, epochOne(d.path, storeNames[0]), nil))
}

// truth returns what a data folder holds.
func (d *dataFolder) truth() map[string]string {
	copied := filepath.Join(d.t.TempDir(), "copy")
	must(d.t, os.CopyFS(copied, os.DirFS(d.path)))
	return contents(d.t, copied)
}

// follow begins to follow the folder into to.
func (d *dataFolder) follow(to string) *backup.Follower {
	d.t.Helper()
	f, err := backup.Follow(d.t.Context(), backup.Options{Data: d.path, To: backup.Folder(to), Keep: keepOne(d.t),
		Warn: func(err error) { d.t.Error(err) }})
	must(d.t, err)
	d.t.Cleanup(func() { _ = f.Close() }) // a test may have closed it
	return f
}

// The law of followers: the newest backup of each round restores everything that the folder held when the round began,
// after any changes since the one before.
func TestEachRoundRestores(t *testing.T) {
	random := rand.New(rand.NewPCG(seedtest.Next(t), 0))
	d := newDataFolder(t)
	d.grow(random)
	to := filepath.Join(t.TempDir(), "backups")
	f := d.follow(to)
	for round := range 8 {
		switch random.IntN(4) {
		case 0:
			d.grow(random)
		case 1, 2:
			d.append(1 + random.IntN(100))
		}
		if random.IntN(6) == 0 {
			f.Age()
		}
		if random.IntN(3) > 0 { // else some of it is as old as before, and some has just been written
			d.age(time.Hour - time.Duration(round)*time.Minute)
		}
		truth := d.truth()
		_, err := f.Round()
		must(t, err)
		restored := filepath.Join(t.TempDir(), "restored")
		must(t, restore(t, to, "", restored))
		if found := contents(t, restored); !maps.Equal(found, truth) {
			t.Fatalf("round %d: %d keys of %d", round, len(found), len(truth))
		}
	}
}

// A round costs what changed: nothing if nothing did, and the blocks of a log that did.
func TestRoundsCostWhatChanged(t *testing.T) {
	d := newDataFolder(t)
	d.grow(rand.New(rand.NewPCG(seedtest.Next(t), 0)))
	d.age(time.Minute)
	to := filepath.Join(t.TempDir(), "backups")
	f := d.follow(to)
	first, err := f.Round()
	must(t, err)
	if idle, err := f.Round(); err != nil || idle.Name() != "" || idle.Written != 0 {
		t.Errorf("at rest: backup %q of %d new bytes, %v", idle.Name(), idle.Written, err)
	}
	files := func() (n int) {
		must(t, filepath.WalkDir(to, func(_ string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() {
				n++
			}
			return err
		}))
		return n
	}
	before := files()
	d.append(1)
	d.age(time.Minute)
	second, err := f.Round()
	must(t, err)
	// The log of the incoming store changed, its list of tables, and what opening it left.
	if second.Name() == "" || second.Written > first.Written/2 || second.Written > 1<<20 {
		t.Errorf("a measure is %d new bytes, the first backup %d", second.Written, first.Written)
	}
	if after := files(); after > before+2 { // a pack, a table, and a manifest for the one that is dropped
		t.Errorf("%d objects more", after-before)
	}
	// Files that were written within two seconds may change again without looking different.
	d.append(1)
	d.age(0)
	for range 2 {
		if result, err := f.Round(); err != nil || result.Name() == "" {
			t.Errorf("just written: backup %q, %v", result.Name(), err)
		}
	}
}

// Damage of a pack is found by its sums, reported at a restore, and mended within a day.
func TestDamagedPack(t *testing.T) {
	d := newDataFolder(t)
	d.age(time.Minute)
	to := filepath.Join(t.TempDir(), "backups")
	f := d.follow(to)
	_, err := f.Round()
	must(t, err)
	objects, err := filepath.Glob(filepath.Join(to, "objects", "*", "*"))
	must(t, err)
	for _, object := range objects {
		content, err := os.ReadFile(object)
		must(t, err)
		content[len(content)/2] ^= 1
		must(t, os.WriteFile(object, content, 0o640))
	}
	if err := restore(t, to, "", filepath.Join(t.TempDir(), "restored")); !errors.Is(err, backup.ErrIncomplete) {
		t.Errorf("restored from damaged packs: %v", err)
	}
	for _, object := range objects {
		must(t, os.Remove(object)) // else an object of the same name counts as intact
	}
	must(t, f.Close())
	g, err := backup.Follow(t.Context(), backup.Options{Data: d.path, To: backup.Folder(to)})
	must(t, err)
	if _, err = g.Round(); err != nil {
		t.Fatal(err)
	}
	must(t, errors.Join(g.Close(), restore(t, to, "", filepath.Join(t.TempDir(), "whole"))))
}

// A follower ends once another cluster was made of its backups, which is then the one that is restored.
func TestFollowerIsSucceeded(t *testing.T) {
	old, to := newDataFolder(t), filepath.Join(t.TempDir(), "backups")
	old.age(time.Minute)
	f := old.follow(to)
	_, err := f.Round()
	must(t, err)
	r := backup.Open(backup.Folder(to), nil)
	m, err := r.Find(t.Context(), "")
	must(t, err)
	must(t, r.Succeed(t.Context(), m))
	if _, err := f.Round(); !errors.Is(err, backup.ErrSucceeded) || !strings.Contains(err.Error(), to) {
		t.Errorf("the old follower goes on: %v", err)
	}
	must(t, f.Close())
	fresh := newDataFolder(t)
	fresh.take(to)
	old.append(1)
	late := old.take(to) // of a follower that did not see it in time, say
	newest, err := r.Find(t.Context(), "")
	if err != nil || newest.Cluster == late.Cluster {
		t.Errorf("the newest is of the cluster that was replaced: %v", err)
	}
}
