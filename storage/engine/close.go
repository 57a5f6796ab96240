package engine

import (
	"cmp"
	"errors"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// flushTimeout is how long Close waits for a disk that does not take a flush, as a full one. The log has it all.
const flushTimeout = 2 * time.Second

// keptLogBytes is how much the logs of a closed store may take. The files that a stop makes and removes cost more than
// their content, and the next opening brings a log into a table anyway.
const keptLogBytes = 128 << 10

// Close closes the store in dir in a small form: if it has more than keptLogBytes of logs, it writes their content into
// a table, and removes them and the OldLogs. fs is that of Options. A store that failed must be closed by itself
// instead.
func Close(db *pebble.DB, fs vfs.FS, dir string) error {
	fs = cmp.Or(fs, vfs.Default)
	if db.Metrics().WAL.Size > 0 {
		if n, err := logBytes(fs, dir); err == nil && n <= keptLogBytes {
			return db.Close()
		}
	}
	flushed := flush(db)
	if err := db.Close(); err != nil || !flushed {
		return err
	}
	return removeLogs(fs, dir)
}

// flush reports whether nothing is left in memory. An error is the store's own to report, or Close does.
func flush(db *pebble.DB) bool {
	if db.Metrics().WAL.Size == 0 {
		return true
	}
	done, err := db.AsyncFlush()
	if err != nil {
		return false
	}
	select {
	case <-done:
		return true
	case <-time.After(flushTimeout):
		return false
	}
}

// logsIn returns the paths of the logs in dir, those that are not needed any more among them.
func logsIn(fs vfs.FS, dir string) (paths []string, err error) {
	names, err := fs.List(dir)
	for _, name := range names {
		if isLog(name) {
			paths = append(paths, fs.PathJoin(dir, name))
		}
	}
	return paths, err
}

// logBytes returns how much the logs in dir take.
func logBytes(fs vfs.FS, dir string) (sum int64, err error) {
	paths, err := logsIn(fs, dir)
	if err != nil {
		return 0, err
	}
	for _, path := range paths {
		info, err := fs.Stat(path)
		if err != nil {
			return 0, err
		}
		sum += info.Size()
	}
	return sum, nil
}

// removeLogs removes the logs of a closed store of which all lies in tables. The record of its files is without them
// before: a crash leaves no record of a log that is gone.
func removeLogs(fs vfs.FS, dir string) error {
	paths, err := logsIn(fs, dir)
	if err != nil {
		return err
	}
	if r := RecorderOf(fs); r != nil {
		for _, path := range paths {
			r.removed(path)
		}
		if err := r.RecordStore(dir); err != nil {
			return err
		}
	}
	var errs []error
	for _, path := range paths {
		errs = append(errs, fs.Remove(path))
	}
	return errors.Join(errs...)
}
