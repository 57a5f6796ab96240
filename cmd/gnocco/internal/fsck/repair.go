package fsck

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"gnocco/internal/server"
	"gnocco/storage/archive"
	"gnocco/storage/engine"
)

// repairSack writes what losses can be made good. With copy the store has tables that cannot be read: what can is copied into a new
// store first, and the damaged one stays beside it.
func (c *check) repairSack(ctx context.Context, dir string, number int, copy bool, w *sackWalk, losses []loss) error {
	if copy {
		if err := c.copyStore(ctx, dir, number); err != nil {
			return err
		}
	}
	store, err := archive.Open(dir, archive.Options{})
	if err != nil {
		return err
	}
	if err := putLosses(store, losses); err != nil {
		return closeAfter(store, err)
	}
	return errors.Join(store.Close(), server.AtRest(dir))
}

// putLosses sets damaged operands aside and puts the groups that were computed again, all in one synced batch.
func putLosses(store *archive.Store, losses []loss) error {
	checkpoint := store.NewCheckpoint()
	for _, l := range losses {
		if l.value != nil {
			if err := checkpoint.SetAside(l.value.key, l.value.intact, l.value.damaged); err != nil {
				return errors.Join(err, checkpoint.Close())
			}
		}
		for _, groups := range l.rebuilt {
			if err := checkpoint.PutGroups(l.metric.ID, groups); err != nil {
				return errors.Join(err, checkpoint.Close())
			}
		}
	}
	return checkpoint.Commit()
}

// copyBatchBytes is when a batch of the copy is committed.
const copyBatchBytes = 4 << 20

// copyStore copies what can be read of the store in dir into a new one that takes its place, at once: a crash leaves the one or the
// other. The damaged store stays beside it.
func (c *check) copyStore(ctx context.Context, dir string, number int) error {
	fresh := filepath.Join(filepath.Dir(dir), "copy-of-"+filepath.Base(dir))
	if err := os.RemoveAll(fresh); err != nil { // of a repair that was cut short
		return err
	}
	if err := c.copyReadable(ctx, dir, fresh, number); err != nil {
		return err
	}
	if err := unix.Renameat2(unix.AT_FDCWD, fresh, unix.AT_FDCWD, dir, unix.RENAME_EXCHANGE); err != nil {
		return fmt.Errorf("exchange %s and %s: %w", fresh, dir, err)
	}
	aside := filepath.Join(filepath.Dir(dir), "damaged-"+filepath.Base(dir))
	for i := 2; ; i++ {
		if _, err := os.Lstat(aside); errors.Is(err, os.ErrNotExist) {
			break
		}
		aside = filepath.Join(filepath.Dir(dir), fmt.Sprintf("damaged-%s-%d", filepath.Base(dir), i))
	}
	if err := os.Rename(fresh, aside); err != nil {
		return err
	}
	parent, err := os.Open(filepath.Dir(dir))
	if err != nil {
		return err
	}
	return errors.Join(parent.Sync(), parent.Close())
}

func (c *check) copyReadable(ctx context.Context, from, to string, number int) error {
	source, err := archive.Open(from, archive.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	target, err := archive.Open(to, archive.Options{})
	if err != nil {
		return closeAfter(source, err)
	}
	checkpoint := target.NewCheckpoint()
	_, err = engine.Walk(source.DB(), func(after []byte) [][]byte { return c.resume(number, after) }, func(key, value []byte) error {
		if err := checkpoint.Set(key, value); err != nil || checkpoint.Bytes() < copyBatchBytes {
			return err
		}
		if err := errors.Join(ctx.Err(), checkpoint.Commit()); err != nil {
			return err
		}
		checkpoint = target.NewCheckpoint()
		return nil
	})
	if err == nil {
		err = checkpoint.Commit()
	}
	_ = source.Close() // of a store that is known to be damaged
	return errors.Join(err, target.Close())
}
