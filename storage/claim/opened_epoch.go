package claim

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/storage/engine"
)

// opened ends the name of an empty file beside the claims on a store. Such a file says that the store was open at that
// epoch, so that a folder of it was durable. It is in the name alone: there is nothing in it that could be damaged.
const opened = ".opened"

func openedPath(fs vfs.FS, root, name string, epoch uint64) string {
	return fs.PathJoin(root, "claims", name, fmt.Sprint(epoch, opened))
}

// MarkOpened notes that the store called name was opened at an epoch. From then on a missing folder is damage, not a
// store that never was. It is durable when MarkOpened returns; notes of earlier epochs are removed.
func MarkOpened(fs vfs.FS, root, name string, epoch uint64) (err error) {
	defer wrap(&err, "mark %s as opened at epoch %d", name, epoch)
	if err := makeEmpty(fs, root, openedPath(fs, root, name, epoch)); err != nil {
		return err
	}
	return removeOpened(fs, root, name, func(old uint64) bool { return old < epoch })
}

// openedEpochs returns the epochs at which a store is known to have been open.
func openedEpochs(fs vfs.FS, root, name string) ([]uint64, error) {
	names, err := list(fs, fs.PathJoin(root, "claims", name))
	var epochs []uint64
	for _, name := range names {
		if text, ok := strings.CutSuffix(name, opened); ok {
			if epoch, ok := parseClaimEpoch(text); ok {
				epochs = append(epochs, epoch)
			}
		}
	}
	return epochs, err
}

func removeOpened(fs vfs.FS, root, name string, which func(epoch uint64) bool) error {
	epochs, err := openedEpochs(fs, root, name)
	errs := []error{err}
	for _, epoch := range epochs {
		if which(epoch) {
			if err := fs.Remove(openedPath(fs, root, name, epoch)); !notThere(err) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// HighestFolder returns the epoch of the newest folder of the store called name, 0 for a store that never was. left is
// what its last holder said when it gave the store back; nil if it did not, so that the folder of the epoch at which
// the store was last opened must be there. If there is less to be seen, the error is an ErrUnstable, and if there is
// nothing of a store that is noted to exist, or was opened, an ErrMissing: another machine's changes are not seen here
// yet, or what should be there was removed.
func HighestFolder(fs vfs.FS, root, name string, left *ClosedState) (uint64, error) {
	f, err := readEpochFolders(fs, fs.PathJoin(root, name))
	if err != nil {
		return 0, err
	}
	seen := f.closedState()
	if seen.Epoch == 0 {
		formats, err := NotedFormats(fs, root, name)
		if err != nil {
			return 0, err
		}
		if len(formats) > 0 {
			return 0, fmt.Errorf("%w: it was open before, and no folder of it is there", ErrMissing)
		}
	}
	if left != nil && (seen.Epoch < left.Epoch || seen.Epoch == left.Epoch && left.Closed && !seen.Closed) {
		return 0, fmt.Errorf("%w: its last holder left %q, which is not to be seen", ErrUnstable, left)
	}
	if left != nil && seen.Closed {
		return seen.Epoch, nil // what the folder contains is compared when it is taken over
	}
	epochs, err := openedEpochs(fs, root, name)
	if err != nil {
		return 0, err
	}
	last := slices.Max(append(epochs, 0))
	if left == nil && seen.Epoch < last {
		return 0, fmt.Errorf("%w: it was open at epoch %d, and no folder of that or a later epoch is there",
			ErrUnstable, last)
	}
	if last > 0 && seen.Epoch > 0 && !seen.Closed {
		err = requireManifest(fs, fs.PathJoin(root, name, epochName(seen.Epoch)))
	}
	return seen.Epoch, err
}

// requireManifest returns an ErrMissing unless there is a store in the folder of an epoch.
func requireManifest(fs vfs.FS, folder string) error {
	names, err := fs.List(folder)
	if err != nil {
		return unstable(err)
	}
	if !slices.ContainsFunc(names, isManifest) {
		return fmt.Errorf("%w: it was open before, and %s has no manifest", ErrMissing, folder)
	}
	return nil
}

// Remove removes a store that is closed, and of which nothing is needed any more. Its holder gives the claim back
// after that. A crash leaves the store, or none.
func Remove(fs vfs.FS, root, name string) (err error) {
	defer wrap(&err, "remove %s", name)
	if err := removeOpened(fs, root, name, func(uint64) bool { return true }); err != nil {
		return err
	}
	if err := removeNotes(fs, root, name); err != nil {
		return err
	}
	claims, dir := fs.PathJoin(root, "claims", name), fs.PathJoin(root, name)
	if err := SyncFolder(fs, claims); err != nil && !notThere(err) {
		return err
	}
	f, err := readEpochFolders(fs, dir)
	if err != nil {
		return err
	}
	// A store that is removed file by file must not look damaged.
	for _, epoch := range f.epochs {
		path := fs.PathJoin(dir, epochName(epoch))
		if r := engine.RecorderOf(fs); r != nil {
			r.Forget(path)
		}
		if err := fs.Rename(path, path+building); err != nil {
			return err
		}
	}
	// Or a power cut brings back a name without its files.
	if err := SyncFolder(fs, dir); err != nil && !notThere(err) {
		return err
	}
	return fs.RemoveAll(dir)
}
