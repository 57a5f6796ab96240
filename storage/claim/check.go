package claim

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Check says whether the next holder of a store could take it over, for readers of a data folder that no process
// serves. The error is the one that the holder would meet before it opens the store.
func Check(fs vfs.FS, root, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	s := &session{fs: fs, root: root}
	holder, err := s.lastHolder(name)
	if err != nil {
		return fmt.Errorf("claim: %s: %w", name, err)
	}
	last, err := s.highestFolder(name, &holder)
	if err != nil {
		return fmt.Errorf("claim: %s: %w", name, err)
	}
	f, err := readEpochFolders(fs, s.storeDir(name))
	if err == nil && slices.Contains(f.closed, last) {
		err = checkClosed(fs, s.storeDir(name), last)
	}
	if err != nil {
		return fmt.Errorf("claim: %s: %w", name, err)
	}
	return nil
}

// lastHolder returns the last claim of a name, without asking whether its member lives.
func (s *session) lastHolder(name string) (Holder, error) {
	n, err := s.epochs(name)
	h := Holder{Epoch: n.highest}
	if err != nil || n.highest == 0 {
		return h, err
	}
	content, err := read(s.fs, s.claimPath(name, n.highest))
	if err != nil {
		return h, err
	}
	if err := json.Unmarshal(content, &h.Member); err != nil {
		return h, nil // of an unknown member: the next holder waits until it is dead
	}
	h.Released = h.Member.ID == nobody || slices.Contains(n.released, h.Member.ID)
	return h, nil
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
