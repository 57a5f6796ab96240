package backup

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/index"
)

// errRebuilt is the error of a backup during which archives were rebuilt. The index would know a rebuild as done, or as
// far as its cursor, that the copies of sacks from before have not had; and nothing would do it again.
var errRebuilt = errors.New("archives are being rebuilt: take the backup when gnocco rebuild says that it is done")

// rebuilds are those that an index knows, by ID, with the number of their run.
type rebuilds map[uuid.UUID]uint64

// rebuildsBefore returns the rebuilds at the beginning of a backup.
func (t *taking) rebuildsBefore(ctx context.Context) (found rebuilds, err error) {
	for range 100 {
		var files *claim.Snapshot
		files, err = claim.TakeGrowingSnapshot(vfs.Default, filepath.Join(t.options.Data, datafolder.IndexName))
		if errors.Is(err, claim.ErrNoStore) {
			return rebuilds{}, nil
		}
		if err == nil {
			found, err = readRebuilds(ctx, files)
			err = errors.Join(err, files.Close())
		}
		if !errors.Is(err, claim.ErrUnstable) && !errors.Is(err, storage.ErrCorrupt) {
			break
		}
	}
	if err == nil || errors.Is(err, errRebuilt) || errors.Is(err, claim.ErrUnstable) ||
		errors.Is(err, storage.ErrLaterFormat) || ctx.Err() != nil {
		return found, err
	}
	return nil, nil // the index is damaged: the backup says so when it copies it
}

// compare returns an errRebuilt if a later index has a rebuild that earlier ones do not know.
func (r rebuilds) compare(ctx context.Context, files *claim.Snapshot) error {
	later, err := readRebuilds(ctx, files)
	if err != nil && !errors.Is(err, errRebuilt) && ctx.Err() == nil {
		return unreadable(fmt.Errorf("rebuilds: %w", err))
	}
	for id, run := range later {
		if earlier, ok := r[id]; !ok || earlier != run {
			return errors.Join(err, errRebuilt)
		}
	}
	return err
}

// readRebuilds opens the index on a snapshot. The error is an errRebuilt if a rebuild is under way.
func readRebuilds(ctx context.Context, files *claim.Snapshot) (found rebuilds, err error) {
	store, err := index.Open(files.Path, index.Options{FS: files, SkipDefaults: true, Fail: func(error) {}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	jobs, err := store.Rebuilds(ctx)
	found = make(rebuilds)
	for _, job := range jobs {
		if found[job.ID] = job.Run; job.State == model.RebuildRunning {
			return nil, errRebuilt
		}
	}
	return found, err
}
