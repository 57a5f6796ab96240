package index

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/storage/index/commits"
)

// A derived file holds what somebody has computed from the store, and could compute again. It lies beside the store's
// own files, so it goes with them to another process. Its format is its owner's, and so are its checksum and the change
// (ChangesSince, SessionOf) for which it is true.

// derivedFiles are those of one store.
type derivedFiles struct {
	log *commits.Log
	fs  vfs.FS
	dir string

	writing sync.Mutex // held while one is written; guards closed
	closed  bool
}

// derivedSuffix ends its name on disk. Package claim knows it by that: such a file is replaced, and never changes.
const derivedSuffix = ".derived"

// errClosed says that the store closes.
var errClosed = errors.New("index: closed")

// WriteDerived replaces a derived file, whose content is what write writes. After a crash it is the one from before or
// the new one, and then the store has all that write could read. It may be called after Close, and fails then.
func (s *derivedFiles) WriteDerived(name string, write func(io.Writer) error) (err error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.closed {
		return errClosed
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("index: write %s: %w", name, err)
		}
	}()
	temporary := s.fs.PathJoin(s.dir, name+".new")
	f, err := s.fs.Create(temporary, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		err = errors.Join(f.Sync(), s.log.WaitDurable())
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, s.fs.Remove(temporary))
	}
	if err := s.fs.Rename(temporary, s.fs.PathJoin(s.dir, name+derivedSuffix)); err != nil {
		return err
	}
	dir, err := s.fs.OpenDir(s.dir)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// end makes later writes fail, once the one under way has returned.
func (s *derivedFiles) end() {
	s.writing.Lock()
	s.closed = true
	s.writing.Unlock()
}

// OpenDerived opens a derived file, and returns its size. The caller closes it.
func (s *derivedFiles) OpenDerived(name string) (io.ReadCloser, int64, error) {
	f, err := s.fs.Open(s.fs.PathJoin(s.dir, name+derivedSuffix), vfs.SequentialReadsOption)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}
