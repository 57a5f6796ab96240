package postings

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"time"
)

const (
	leastUnsaved  = 10_000      // changes, before the file is written again
	unsavedPart   = 16          // and so large a part of the catalog: a start reads them from the index
	betweenWrites = time.Minute // at least
)

// file is where a Catalog is with its file. It is guarded by the catalog's lock.
type file struct {
	least   int // leastUnsaved
	unsaved int // changes since the file was read or written; all, if it is not there
	tried   bool
	writing bool
	written time.Time
}

// readFile sets the state to that of the file, if there is one that is of use. mu is held.
func (c *Catalog) readFile(ctx context.Context) error {
	c.file.tried = true
	if c.ceilometer { // its names are not in the file
		return nil
	}
	f, size, err := c.index.OpenDerived(fileName)
	if err == nil {
		c.state, err = readState(f, size, c.index.SessionOf)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			c.logger.Info("the labels are read from the index", "error", err)
		}
		c.state = nil
		return nil
	}
	if err := c.cover(ctx, c.state); err != nil {
		c.forget()
		return err
	}
	return nil
}

// changed notes changes, and writes the file once they are many. mu is held.
func (c *Catalog) changed(n int) {
	f := &c.file
	f.unsaved += n
	many := max(f.least, (len(c.state.metrics)+len(c.state.resources))/unsavedPart)
	if c.ceilometer || f.writing || f.unsaved < many || time.Since(f.written) < betweenWrites {
		return
	}
	session, ok := c.index.SessionOf(c.state.last)
	if !ok {
		return
	}
	snapshot, unsaved := c.state.snapshot(), f.unsaved
	f.writing = true
	go func() {
		err := c.index.WriteDerived(fileName, func(w io.Writer) error { return snapshot.write(w, session) })
		if err != nil {
			c.logger.Info("the labels are not written to a file", "error", err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if f.writing, f.written = false, time.Now(); err == nil {
			f.unsaved -= unsaved
		}
	}()
}
