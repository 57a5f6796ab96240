package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gnocco-db/gnocco/cmd/gnocco-client/series"
)

const (
	// exportMemory is how much of a metric waits in memory. More waits in a temporary file.
	exportMemory = 16 << 20
	// exportSaves is how often the progress of an export to a file is saved.
	exportSaves = time.Second
)

// exportOutput takes an export, and writes whole metrics only. So an export that is interrupted goes on behind them.
type exportOutput struct {
	out    io.Writer
	metric bytes.Buffer // of the metric that is being exported, behind what rest has of it
	rest   *os.File     // nil unless a metric was larger than exportMemory

	// path is the file of an export. The file has another name until it is whole.
	path     string
	file     *os.File
	progress exportProgress
	saved    time.Time
}

// exportProgress stands beside the file of an export that is not whole, for the same command to go on.
type exportProgress struct {
	Of    []string `json:"of"`    // what is exported
	Bytes int64    `json:"bytes"` // how much of the file is whole
	Next  string   `json:"next"`  // ID of the metric that follows
	Name  string   `json:"name"`  // as people name it
}

// exportTo begins an export to a file, or goes on with one of the same.
func exportTo(path string, of []string) (o *exportOutput, err error) {
	o = &exportOutput{path: path}
	saved, err := os.ReadFile(o.progressPath())
	if err == nil && json.Unmarshal(saved, &o.progress) == nil && !slices.Equal(o.progress.Of, of) {
		return nil, fmt.Errorf("%s is of an export of something else: finish that one, or remove the file", o.partPath())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	o.progress.Of = of
	// The finished export replaces the file of this name, which must be no device or folder.
	if there, err := os.Lstat(o.path); err == nil && !there.Mode().IsRegular() {
		return nil, fmt.Errorf("--to: %s is there, and no regular file", o.path)
	}
	if o.file, err = os.OpenFile(o.partPath(), os.O_RDWR|os.O_CREATE, 0o666); err != nil {
		return nil, err
	}
	if unix.Flock(int(o.file.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return nil, fmt.Errorf("another export is writing %s", o.partPath())
	}
	info, err := o.file.Stat()
	if err == nil && info.Size() < o.progress.Bytes {
		o.progress = exportProgress{Of: of}
	}
	_, seeks := o.file.Seek(o.progress.Bytes, io.SeekStart)
	o.out = o.file
	return o, errors.Join(err, o.file.Truncate(o.progress.Bytes), seeks)
}

func (o *exportOutput) partPath() string     { return o.path + ".part" }
func (o *exportOutput) progressPath() string { return o.path + ".part.json" }

// Write takes a part of a metric.
func (o *exportOutput) Write(p []byte) (n int, err error) {
	if o.metric.Len()+len(p) > exportMemory {
		if o.rest == nil {
			if o.rest, err = os.CreateTemp("", "gnocco-export-*"); err != nil {
				return 0, err
			}
			if err := os.Remove(o.rest.Name()); err != nil {
				return 0, err
			}
		}
		if _, err := o.metric.WriteTo(o.rest); err != nil {
			return 0, err
		}
	}
	return o.metric.Write(p)
}

// commit writes the metric out. next is the one that follows, if any.
func (o *exportOutput) commit(next *series.Series) error {
	out, begun := o.out, o.progress.Bytes
	if o.rest != nil {
		if _, err := o.rest.Seek(0, io.SeekStart); err != nil {
			return err
		}
		n, err := io.Copy(out, o.rest)
		if begun += n; err != nil {
			return err
		}
		if _, err := o.rest.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if err := o.rest.Truncate(0); err != nil {
			return err
		}
	}
	n, err := o.metric.WriteTo(out)
	if err != nil || next == nil {
		return err
	}
	o.progress.Bytes, o.progress.Next, o.progress.Name = begun+n, next.ID, next.String()
	if time.Since(o.saved) > exportSaves {
		return o.save()
	}
	return nil
}

// save makes what is written, and the progress, outlast a crash.
func (o *exportOutput) save() error {
	if o.file == nil || o.progress.Bytes == 0 {
		return nil
	}
	o.saved = time.Now()
	text, err := json.Marshal(o.progress)
	if err != nil {
		return err
	}
	if err := o.file.Sync(); err != nil {
		return err
	}
	if err := os.WriteFile(o.progressPath()+".new", text, 0o666); err != nil {
		return err
	}
	return os.Rename(o.progressPath()+".new", o.progressPath())
}

// finish gives a whole file its name.
func (o *exportOutput) finish() error {
	if o.file == nil {
		return nil
	}
	if err := errors.Join(o.file.Sync(), os.Rename(o.partPath(), o.path), o.file.Close()); err != nil {
		return err
	}
	if err := os.Remove(o.progressPath()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
