package claim

import (
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

const (
	building = ".tmp"    // a folder that is not complete
	closed   = ".closed" // a file that says what its store consisted of when it was closed in order
)

// folders are what lies in the folder of one store.
type folders struct {
	epochs []uint64 // of complete folders, ascending
	closed []uint64
	built  []string // names of incomplete ones
	loose  []string // files of a store that lies there directly: epoch 0
}

func epochName(epoch uint64) string { return "e" + strconv.FormatUint(epoch, 10) }

func parseEpoch(name string) (epoch uint64, ok bool) {
	text, found := strings.CutPrefix(name, "e")
	if !found {
		return 0, false
	}
	epoch, err := strconv.ParseUint(text, 10, 64)
	return epoch, err == nil && epoch > 0 && epochName(epoch) == name
}

// readFolders lists the epochs of the store in dir, which need not exist.
func readFolders(fs vfs.FS, dir string) (folders, error) {
	var f folders
	names, err := list(fs, dir)
	if err != nil {
		return f, err
	}
	for _, name := range names {
		if epoch, ok := parseEpoch(name); ok {
			f.epochs = append(f.epochs, epoch)
		} else if text, ok := strings.CutSuffix(name, building); ok && isEpoch(text) {
			f.built = append(f.built, name)
		} else if text, ok := strings.CutSuffix(name, closed); ok && isEpoch(text) {
			epoch, _ := parseEpoch(text)
			f.closed = append(f.closed, epoch)
		} else if ofPebble(name) {
			f.loose = append(f.loose, name)
		}
	}
	slices.Sort(f.epochs)
	return f, nil
}

func isEpoch(name string) bool {
	_, ok := parseEpoch(name)
	return ok
}

// highest returns the newest epoch that has a folder, 0 for none.
func (f *folders) highest() uint64 {
	if len(f.epochs) == 0 {
		return 0
	}
	return f.epochs[len(f.epochs)-1]
}

// hasLooseStore tells whether there is an epoch 0: without a manifest, files are no store.
func (f *folders) hasLooseStore() bool {
	return slices.ContainsFunc(f.loose, func(name string) bool { return strings.HasPrefix(name, "MANIFEST-") })
}

// ofPebble tells whether a file of that name is part of a Pebble store.
func ofPebble(name string) bool {
	for _, prefix := range []string{"MANIFEST-", "OPTIONS-", "marker."} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return name == lockName || immutable(name) || strings.HasSuffix(name, ".log") || strings.HasSuffix(name, ".dbtmp")
}

const lockName = "LOCK"

// immutable tells whether a file never changes once it is written, so that two epochs may share it.
func immutable(name string) bool {
	return strings.HasSuffix(name, ".sst") || strings.HasSuffix(name, ".blob")
}
