package incoming_test

import (
	"strings"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// injected is a file system whose operations pass a function first, which may count them, hold them up, or fail them.
type injected struct{ *errorfs.FS }

func inject(fs vfs.FS, f func(op errorfs.Op) error) vfs.FS {
	return injected{errorfs.Wrap(fs, errorfs.InjectorFunc(f))}
}

// ReuseForWrite makes a new file: errorfs would hand out the recycled one bare, and logs are recycled.
func (fs injected) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := fs.Remove(oldname); err != nil {
		return nil, err
	}
	return fs.Create(newname, category)
}

func isLog(op errorfs.Op) bool { return strings.HasSuffix(op.Path, ".log") }

// slowSyncs counts and slows down the syncs of Pebble's log.
func slowSyncs(fs vfs.FS, n *atomic.Int64, pause time.Duration) vfs.FS {
	return inject(fs, func(op errorfs.Op) error {
		switch op.Kind {
		case errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo:
			if isLog(op) {
				n.Add(1)
				time.Sleep(pause)
			}
		}
		return nil
	})
}
