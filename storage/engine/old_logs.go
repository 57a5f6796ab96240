package engine

import (
	"errors"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// keptLogs is how many OldLogs keep: as many as are begun while one memtable is being flushed, mostly.
const keptLogs = 2

// OldLogs are logs that a store does not need any more, kept to be written over: a sync is faster where a file does not
// grow. Pebble would keep as many as were ever needed at once, until the store is closed. They keep their names, which
// a store knows as those of old logs wherever it is opened.
type OldLogs struct {
	mu   sync.Mutex
	fs   vfs.FS
	logs []oldLog
}

type oldLog struct {
	path  string
	bytes int64
}

// remove takes over a log that is not needed any more: it is kept, or removed from fs. A nil OldLogs keeps none.
func (o *OldLogs) remove(fs vfs.FS, path string) error {
	if o == nil {
		return fs.Remove(path)
	}
	info, err := fs.Stat(path)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.logs) == keptLogs {
		return fs.Remove(path)
	}
	o.fs, o.logs = fs, append(o.logs, oldLog{path, info.Size()})
	return nil
}

// pop returns the path of a log that the caller may write over.
func (o *OldLogs) pop() (path string, ok bool) {
	if o == nil {
		return "", false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	last := len(o.logs) - 1
	if last < 0 {
		return "", false
	}
	log := o.logs[last]
	o.logs = o.logs[:last]
	return log.path, true
}

// Bytes returns how much they take on disk.
func (o *OldLogs) Bytes() (sum int64) {
	if o == nil {
		return 0
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, log := range o.logs {
		sum += log.bytes
	}
	return sum
}

// Remove removes them.
func (o *OldLogs) Remove() error {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	var errs []error
	for _, log := range o.logs {
		errs = append(errs, o.fs.Remove(log.path))
	}
	o.logs = nil
	return errors.Join(errs...)
}
