package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// target is a data folder that no server has served yet. While a pass writes it, it has another name, under which no
// server looks for it:
//
//	DATA.migrating/            DATA, once the pass is at its end
//	  migration.json           source, and the passes so far
//	  migration.log            a line for each archive that was written: pass, metric
//	  index/e1, sacks/nnn/e1   stores, as a server takes them over
//	  index.new/e1             the index of the pass under way
//	  incoming/gnocchi/e1      measures that the source had not processed
type target struct {
	path, stage string
	folder      *datafolder.Folder
	sacks       []*targetSack
	state       migration
	log         *progressLog
	cache       *pebble.Cache
	files       *pebble.FileCache
}

const (
	stageSuffix = ".migrating"
	stateFile   = "migration.json"
	logFile     = "migration.log"

	commitBytes = 1 << 20         // of a sack's batch
	commitAfter = 2 * time.Second // what a kill takes back has to be read again
	cacheBytes  = 64 << 20
	openTables  = 512
	fileShards  = 8
)

// openTarget takes the folder at path, or makes one for a source. It begins a pass, or goes on with one that was cut
// short.
func openTarget(path, from string, sacks int) (*target, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	t := &target{path: path, stage: path + stageSuffix}
	if err := t.moveIn(); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(t.stage, "lock"), os.O_CREATE|os.O_RDWR, 0o640)
	if err != nil {
		return nil, err
	}
	if err := lock.Close(); err != nil {
		return nil, err
	}
	if t.folder, err = datafolder.Hold(t.stage); err != nil {
		return nil, err
	}
	if err := t.open(from, sacks); err != nil {
		return nil, errors.Join(err, t.close())
	}
	return t, nil
}

// moveIn gives the folder its name for the time of the pass.
func (t *target) moveIn() error {
	_, stageErr := os.Stat(t.stage)
	entries, err := os.ReadDir(t.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0:
		if stageErr == nil {
			return nil
		}
		if err == nil {
			if err := os.Remove(t.path); err != nil {
				return err
			}
		}
		return os.MkdirAll(t.stage, 0o750)
	case err != nil:
		return err
	case stageErr == nil:
		return fmt.Errorf("both %s and %s exist: remove one of them", t.path, t.stage)
	}
	for _, e := range entries {
		if e.Name() == "members" || e.Name() == "claims" {
			return fmt.Errorf("%s has been served: another pass would lose what that server took", t.path)
		}
	}
	if _, err := os.Stat(filepath.Join(t.path, stateFile)); err != nil {
		return fmt.Errorf("%s was not made by gnocco-migrate: %w", t.path, err)
	}
	folder, err := datafolder.Hold(t.path) // nobody serves it
	if err != nil {
		return err
	}
	return errors.Join(os.Rename(t.path, t.stage), folder.Release())
}

func (t *target) open(from string, sacks int) error {
	if err := t.readState(from); err != nil {
		return err
	}
	cluster, _, err := t.folder.EnsureClusterFile(sacks, datafolder.CoordinationFile, "")
	if err != nil {
		return err
	}
	if t.log, err = openProgressLog(filepath.Join(t.stage, logFile)); err != nil {
		return err
	}
	t.cache, t.files = pebble.NewCache(cacheBytes), pebble.NewFileCache(fileShards, openTables)
	for sack := range cluster.Sacks {
		path := filepath.Join(t.stage, datafolder.SackName(sack), "e1")
		store, err := archive.Open(path, archive.Options{Cache: t.cache, FileCache: t.files,
			Sack: archive.Sack{Number: sack, Of: cluster.Sacks}})
		if err != nil {
			return err
		}
		t.sacks = append(t.sacks, &targetSack{store: store})
	}
	return nil
}

// flush makes all that was put durable.
func (t *target) flush() error {
	for _, s := range t.sacks {
		s.mu.Lock()
		err := t.commit(s)
		s.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// finish ends the pass: the folder gets its name.
func (t *target) finish() error {
	if err := t.flush(); err != nil {
		return err
	}
	index := filepath.Join(t.stage, "index")
	if err := os.RemoveAll(index); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(t.stage, "index.new"), index); err != nil {
		return err
	}
	t.state.Passes = append(t.state.Passes, t.state.Pass)
	t.state.Pass = passState{}
	if err := t.writeState(); err != nil {
		return err
	}
	if err := t.close(); err != nil {
		return err
	}
	if err := os.Rename(t.stage, t.path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(t.path))
}

// close gives the folder up as it is, with its commits.
func (t *target) close() error {
	var errs []error
	for _, s := range t.sacks {
		if s.checkpoint != nil {
			s.checkpoint.Close()
		}
		errs = append(errs, s.store.Close())
	}
	t.sacks = nil
	if t.files != nil {
		t.files.Unref()
		t.cache.Unref()
		t.files = nil
	}
	if t.log != nil {
		errs = append(errs, t.log.close())
		t.log = nil
	}
	if t.folder != nil {
		errs = append(errs, t.folder.Release())
		t.folder = nil
	}
	return errors.Join(errs...)
}

func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// bytes returns what the folder takes.
func (t *target) bytes() (n int64) {
	path := t.path
	if _, err := os.Stat(path); err != nil {
		path = t.stage
	}
	_ = filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := e.Info(); err == nil && !e.IsDir() && !strings.HasPrefix(e.Name(), "lock") {
			n += info.Size()
		}
		return nil
	})
	return n
}
