package fsck

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sys/unix"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/engine"
)

// repairSack writes the groups that make losses good. With copy the store has tables that cannot be read: it first
// copies the readable part into a new store, and the damaged one stays beside it.
func (c *check) repairSack(ctx context.Context, dir string, number int, copy bool, losses []loss) error {
	if copy {
		if _, err := c.replace(ctx, sackName(number), func(ctx context.Context, to string) error {
			return c.copyReadable(ctx, dir, to, number)
		}); err != nil {
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
	return errors.Join(store.Close(), datafolder.AtRest(vfs.Default, dir))
}

// putLosses sets damaged operands aside and puts the groups that were computed again, all in one synced batch.
func putLosses(store *archive.Store, losses []loss) error {
	checkpoint := store.NewCheckpoint()
	for _, l := range losses {
		if l.value != nil {
			checkpoint.SetAside(l.value.key, l.value.intact, l.value.damaged)
		}
		for _, groups := range l.recomputed {
			checkpoint.PutGroups(l.metric.ID, groups)
		}
	}
	return checkpoint.Commit()
}

// copyBatchBytes is when a batch of the copy is committed.
const copyBatchBytes = 4 << 20

// swapIn puts the store in fresh in the place of dir, at once. The former store stays beside it, in the folder that
// swapIn returns; "" if there was none.
func swapIn(fresh, dir string) (aside string, err error) {
	parent := filepath.Dir(dir)
	if _, err := os.Lstat(dir); errors.Is(err, os.ErrNotExist) {
		aside := freeName(filepath.Join(parent, "damaged-"+filepath.Base(dir)))
		return "", errors.Join(os.Rename(fresh, dir), moveRecord(dir, aside), claim.SyncFolder(vfs.Default, parent))
	}
	if err := unix.Renameat2(unix.AT_FDCWD, fresh, unix.AT_FDCWD, dir, unix.RENAME_EXCHANGE); err != nil {
		return "", fmt.Errorf("exchange %s and %s: %w", fresh, dir, err)
	}
	aside = freeName(filepath.Join(parent, "damaged-"+filepath.Base(dir)))
	if err := errors.Join(moveRecord(dir, aside), os.Rename(fresh, aside)); err != nil {
		return "", err
	}
	return aside, claim.SyncFolder(vfs.Default, parent)
}

// moveRecord moves what was recorded of a damaged store, which does not hold for the one in its place. Until then that
// one is refused.
func moveRecord(dir, aside string) error {
	err := os.Rename(engine.RecordPath(dir), engine.RecordPath(aside))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// freeName returns a path, with a number behind it if it is taken.
func freeName(path string) string {
	free := path
	for i := 2; ; i++ {
		if _, err := os.Lstat(free); errors.Is(err, os.ErrNotExist) {
			return free
		}
		free = fmt.Sprintf("%s-%d", path, i)
	}
}

// copyReadable copies what can be read of the store in from into a new one.
func (c *check) copyReadable(ctx context.Context, from, to string, number int) error {
	source, err := archive.Open(from, archive.Options{ReadOnly: true, Unchecked: true})
	if err != nil {
		return err
	}
	target, err := archive.Open(to, archive.Options{})
	if err != nil {
		return closeAfter(source, err)
	}
	checkpoint := target.NewCheckpoint()
	resume := func(after []byte) [][]byte { return c.resume(number, after) }
	_, err = engine.Walk(source.DB(), resume, func(key, value []byte) error {
		checkpoint.Set(key, value)
		if checkpoint.Bytes() < copyBatchBytes {
			return nil
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
