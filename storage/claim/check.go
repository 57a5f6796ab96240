package claim

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Check says whether the next holder of a store could take it over, for readers of a data folder that no process
// serves. The error is the one that the holder would meet before it opens the store.
func Check(fs vfs.FS, root, name string) (err error) {
	if err := CheckName(name); err != nil {
		return err
	}
	s := &session{fs: fs, root: root}
	holder, err := s.holder(name)
	if err != nil {
		return err
	}
	defer wrap(&err, "%s", name)
	last, err := s.highestFolder(name, &holder)
	if err != nil {
		return err
	}
	f, err := readEpochFolders(fs, s.storeDir(name))
	if err == nil && slices.Contains(f.closed, last) {
		err = checkClosed(fs, s.storeDir(name), last)
	}
	return err
}

// LastEpoch returns the highest epoch that a store or the claims on it have, 0 for none.
func LastEpoch(fs vfs.FS, root, name string) (uint64, error) {
	folder, err := highestIn(fs, fs.PathJoin(root, name), parseEpoch)
	if err != nil {
		return 0, err
	}
	claimed, err := highestIn(fs, fs.PathJoin(root, "claims", name), parseClaimEpoch)
	return max(folder, claimed), err
}

// Forget removes the claims on a store of a data folder that nobody serves, and with them what they say of its last
// state, and the note that it exists. The next holder goes on from the epochs of its folders.
func Forget(fs vfs.FS, root, name string) error {
	dir := fs.PathJoin(root, "claims", name)
	if err := errors.Join(removeNotes(fs, root, name), fs.RemoveAll(dir)); err != nil {
		return fmt.Errorf("claim: forget %s: %w", name, err)
	}
	parent := fs.PathDir(dir)
	if _, err := fs.Stat(parent); err != nil {
		return nil // no claims at all
	}
	return SyncFolder(fs, parent)
}
