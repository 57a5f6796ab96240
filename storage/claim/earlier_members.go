package claim

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// ErrEarlierMembers is the error of a data folder in which processes of an earlier version may live: these beat in a
// file's content, and do not see processes of this version.
var ErrEarlierMembers = errors.New("a process of an earlier version may live")

// RefuseEarlierMembers returns an ErrEarlierMembers if the data folder has members in the form of earlier versions,
// each a file. It removes those of processes that ended on this machine. Whether the others live is not decided: that
// would need a file's content, which caches may hide.
func RefuseEarlierMembers(fs vfs.FS, root string) error {
	dir := membersDir(fs, root)
	names, err := list(fs, dir)
	if err != nil {
		return fmt.Errorf("claim: members: %w", err)
	}
	var self Process
	var errs []error
	for _, id := range names {
		path := fs.PathJoin(dir, id)
		info, err := fs.Stat(path)
		if strings.HasPrefix(id, temporary) || notThere(err) || err == nil && info.IsDir() {
			continue
		}
		if err == nil && self.BootID == "" {
			self, err = ThisProcess(root)
		}
		var content []byte
		if err == nil {
			content, err = read(fs, path)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("claim: member %s: %w", id, err))
			continue
		}
		_, description, _ := bytes.Cut(content, []byte{'\n'}) // after the counter
		m, err := decodeMember(description)
		if IsLocal(fs, root) && unlocked(fs, path) || err == nil && self.Gone(&m.Process) {
			errs = append(errs, fs.Remove(path))
			continue
		}
		errs = append(errs, fmt.Errorf("claim: %w: %s on %s; end all processes of the earlier version, and if this one "+
			"ended without removing %s, remove it", ErrEarlierMembers, id, m.Process.Host, path))
	}
	return errors.Join(errs...)
}
