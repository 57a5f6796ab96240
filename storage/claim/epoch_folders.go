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

	// unprovenPrefix makes the name of the files kept of an epoch that may hold more than the next one.
	unprovenPrefix = "unproven-"
)

// epochFolders lists the contents of the folder of one store.
type epochFolders struct {
	names  []string
	epochs []uint64 // of complete folders, ascending
	closed []uint64
	kept   []string // names of folders that were kept of epochs, see unprovenPrefix
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

// readEpochFolders lists the epochs of the store in dir, which need not exist.
func readEpochFolders(fs vfs.FS, dir string) (epochFolders, error) {
	names, err := list(fs, dir)
	f := epochFolders{names: names}
	for _, name := range names {
		if epoch, ok := parseEpoch(name); ok {
			f.epochs = append(f.epochs, epoch)
		} else if epoch, ok := parseEpoch(epochOf(name)); ok {
			if name == epochName(epoch)+closed {
				f.closed = append(f.closed, epoch)
			}
		} else if strings.HasPrefix(name, unprovenPrefix) {
			f.kept = append(f.kept, name)
		}
	}
	slices.Sort(f.epochs)
	return f, err
}

// epochOf returns the epoch's name in that of its folder, or of a file beside it.
func epochOf(name string) string {
	epoch, _, _ := strings.Cut(name, ".")
	return epoch
}

// highest returns the newest epoch that has a folder, 0 for none.
func (f *epochFolders) highest() uint64 {
	if len(f.epochs) == 0 {
		return 0
	}
	return f.epochs[len(f.epochs)-1]
}

func isManifest(name string) bool { return strings.HasPrefix(name, manifestPrefix) }

// ofPebble reports whether a file of that name holds some of a Pebble store, or was derived from it.
func ofPebble(name string) bool {
	for _, prefix := range []string{manifestPrefix, "OPTIONS-", "marker."} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return IsImmutable(name) || strings.HasSuffix(name, ".log")
}

const (
	manifestPrefix = "MANIFEST-"
	derived        = ".derived" // ends the names of files that can be made again from the store (index.WriteDerived)
)

// IsImmutable reports whether a file never changes once it is written, so that two epochs may share it.
func IsImmutable(name string) bool {
	return strings.HasSuffix(name, ".sst") || strings.HasSuffix(name, ".blob") || strings.HasSuffix(name, derived)
}
