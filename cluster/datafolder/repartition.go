package datafolder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/internal/counted"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/storage/incoming"
)

// A change of the number of sacks copies all archives, since the number decides the store of a metric's archives. The
// folder shows the progress at any moment, and the next Repartition goes on with a change that was cut short:
//
//		DATA/repartition.json   journal: from how many sacks to how many, how many are copied, whether all are
//		DATA/sacks.new/         the new stores, while they are filled
//		DATA/sacks.old/         the old ones, once the new ones are in their place
//
//	 1. A server is started and stopped, which brings all accepted measures into the archives: incoming stores sort by
//	    sack too.
//	 2. The archives are copied into the new stores, sack by sack, and the journal counts a sack once its copy is synced.
//	    A sack that was copied in part is copied again: the same bytes under the same keys.
//	 3. The journal says "switching". Folders are exchanged, and incoming stores and cluster.json get the new number; a
//	    step does nothing if it was done before.
//	 4. The journal goes, then the old stores.
//
// No server starts on the folder until step 4.
const (
	repartitionFile = "repartition.json"
	newSacksFolder  = "sacks.new"
	oldSacksFolder  = "sacks.old"
)

// errRepartition keeps a server from starting.
var errRepartition = errors.New("a change of the number of sacks was cut short: gnocco sacks goes on with it")

// repartition is the journal.
type repartition struct {
	From      int    `json:"from"` // sacks
	To        int    `json:"to"`
	Epoch     uint64 `json:"epoch"`  // of the new stores: above all epochs of the old ones, since claims go by it
	Copied    int    `json:"copied"` // of the old sacks, the first so many are copied
	Switching bool   `json:"switching"`
}

// Progress is told how many of the old sacks are copied.
type Progress struct{ Copied, Sacks int }

// Repartition changes the number of sacks of a data folder that no process serves, whose stores are on disk. drain
// serves the folder until all accepted measures are in the archives, and releases it. After an error the folder is
// unchanged, or the next call goes on from there.
func Repartition(ctx context.Context, disk vfs.FS, path string, to int, drain func(context.Context) error,
	tell func(Progress)) error {
	if to < 1 || to > MaxSacks {
		return fmt.Errorf("datafolder: number of sacks is %d, not 1 to %d", to, MaxSacks)
	}
	folder, j, err := beginRepartition(ctx, disk, path, to, drain)
	if err != nil || j == nil {
		return err
	}
	defer func() { _ = folder.Release() }() // it closes an unchanged file
	if j.To != to {
		return fmt.Errorf("datafolder: a change from %d to %s was cut short: go on with that one first",
			j.From, counted.Of(j.To, "sack"))
	}
	if !j.Switching {
		if err := folder.copySacks(ctx, j, tell); err != nil {
			return fmt.Errorf("datafolder: copy sacks: %w", err)
		}
		j.Switching = true
		if err := folder.writeJournal(j); err != nil {
			return err
		}
	}
	if err := folder.switchSacks(j); err != nil {
		return fmt.Errorf("datafolder: switch to %s: %w", counted.Of(to, "sack"), err)
	}
	return nil
}

// beginRepartition takes the folder and returns the journal of the change, nil if there is nothing to change.
func beginRepartition(ctx context.Context, disk vfs.FS, path string, to int, drain func(context.Context) error) (
	*Folder, *repartition, error) {
	folder, err := Hold(path)
	if err != nil {
		return nil, nil, err
	}
	folder.fs = disk
	j, err := folder.readJournal()
	if err != nil || j != nil {
		return folder, j, err
	}
	cluster, err := folder.ReadClusterFile()
	if err != nil || cluster.Sacks == to {
		return nil, nil, errors.Join(err, folder.Release())
	}
	// The server takes the folder itself. The checks find measures that others accept between its end and our start.
	if err := errors.Join(folder.Release(), drain(ctx)); err != nil {
		return nil, nil, err
	}
	if folder, err = Hold(path); err != nil {
		return nil, nil, err
	}
	folder.fs = disk
	for _, dir := range []string{newSacksFolder, oldSacksFolder} {
		if err := disk.RemoveAll(filepath.Join(folder.Path, dir)); err != nil {
			return nil, nil, errors.Join(err, folder.Release())
		}
	}
	// With a journal no server starts, which could drain or repair the folder. So all checks come before.
	if err = folder.checkSacks(cluster.Sacks); err == nil {
		_, err = folder.incomingMarks(cluster.Sacks)
	}
	if err != nil {
		return nil, nil, errors.Join(err, folder.Release())
	}
	j = &repartition{From: cluster.Sacks, To: to}
	for sack := range max(j.From, j.To) {
		epoch, err := folder.highestEpoch(SackName(sack))
		if err != nil {
			return nil, nil, errors.Join(err, folder.Release())
		}
		j.Epoch = max(j.Epoch, epoch+1)
	}
	if err := folder.writeJournal(j); err != nil {
		return nil, nil, errors.Join(err, folder.Release())
	}
	return folder, j, nil
}

// checkSacks returns an error if a sack is missing, or another is in its place.
func (f *Folder) checkSacks(sacks int) error {
	for sack := range sacks {
		name := SackName(sack)
		if err := claim.Check(f.disk(), f.Path, name); err != nil {
			return fmt.Errorf("datafolder: %w", err)
		}
		dir, _, err := claim.Current(f.disk(), filepath.Join(f.Path, name))
		if err != nil {
			return fmt.Errorf("datafolder: %w", err)
		}
		if dir == "" {
			continue
		}
		store, err := f.openSack(dir, sack, sacks)
		if err != nil {
			return fmt.Errorf("datafolder: %w", err)
		}
		if err := store.Close(); err != nil {
			return fmt.Errorf("datafolder: %w", err)
		}
	}
	return nil
}

// openSack opens a sack's archives in dir, to read them.
func (f *Folder) openSack(dir string, sack, sacks int) (*archive.Store, error) {
	return archive.Open(dir, archive.Options{FS: f.disk(), ReadOnly: true, Sack: archive.Sack{Number: sack, Of: sacks}})
}

// highestEpoch returns the highest epoch of a store, on the disk or in claims.
func (f *Folder) highestEpoch(name string) (uint64, error) {
	_, highest, err := claim.Current(f.disk(), filepath.Join(f.Path, name))
	if err != nil {
		return 0, err
	}
	claims, err := f.disk().List(filepath.Join(f.Path, "claims", name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	for _, c := range claims {
		number, _, _ := strings.Cut(c, ".")
		if epoch, err := strconv.ParseUint(number, 10, 64); err == nil {
			highest = max(highest, epoch)
		}
	}
	return highest, nil
}

func (f *Folder) readJournal() (*repartition, error) {
	path := filepath.Join(f.Path, repartitionFile)
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("datafolder: %w", err)
	}
	j := new(repartition)
	if err := json.Unmarshal(content, j); err != nil {
		return nil, fmt.Errorf("datafolder: %s: %w", path, err)
	}
	return j, nil
}

func (f *Folder) writeJournal(j *repartition) error {
	content, err := json.Marshal(j)
	if err == nil {
		err = f.WriteFile(repartitionFile, append(content, '\n'))
	}
	if err != nil {
		return fmt.Errorf("datafolder: %w", err)
	}
	return nil
}

// switchSacks makes the copied sacks the folder's.
func (f *Folder) switchSacks(j *repartition) error {
	fresh, old, disk := filepath.Join(f.Path, newSacksFolder), filepath.Join(f.Path, oldSacksFolder), f.disk()
	_, err := disk.Stat(fresh)
	if err == nil {
		if _, err = disk.Stat(old); errors.Is(err, fs.ErrNotExist) {
			err = disk.Rename(f.SacksDir(), old)
		}
		if err == nil {
			err = disk.Rename(fresh, f.SacksDir())
		}
		if err == nil {
			err = claim.SyncFolder(disk, f.Path)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = f.eachIncoming(func(_, dir string) error {
		if err := incoming.ChangeSacks(disk, dir, j.To); err != nil {
			return err
		}
		return AtRest(disk, dir)
	})
	if err != nil {
		return err
	}
	// A crash must not bring back a drained store that was removed, with the old number.
	if err := claim.SyncFolder(disk, f.IncomingDir()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	cluster, err := f.decodeClusterFile()
	if err != nil {
		return err
	}
	cluster.Format, cluster.Sacks = formatVersion, j.To
	if err := f.writeClusterFile(cluster, f.WriteFile); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(f.Path, repartitionFile)); err != nil {
		return err
	}
	if err := claim.SyncFolder(vfs.Default, f.Path); err != nil {
		return err
	}
	return disk.RemoveAll(old)
}

// eachIncoming calls f with each incoming store's name and folder.
func (f *Folder) eachIncoming(call func(name, dir string) error) error {
	names, err := f.IncomingNames()
	if err != nil {
		return err
	}
	for _, name := range names {
		dir, _, err := claim.Current(f.disk(), filepath.Join(f.Path, name))
		if err == nil && dir != "" {
			err = call(name, dir)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// AtRest notes that a store of a held folder was written and closed in order: otherwise its next holder would assume
// that another process still writes to it. Dir is the folder of its epoch.
func AtRest(disk vfs.FS, dir string) error {
	parent := filepath.Dir(dir)
	path, epoch, err := claim.Current(disk, parent)
	if err != nil || path != dir {
		return err // a store without epochs
	}
	if err := engine.RecordFolder(disk, dir, nil); err != nil {
		return fmt.Errorf("datafolder: %w", err)
	}
	if err := claim.MarkClosed(disk, parent, epoch); err != nil {
		return err
	}
	return claim.SyncFolder(disk, parent) // a crash would bring back the earlier mark, of other files
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
