package server

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrInUse is the error of a data folder that another process holds.
var ErrInUse = errors.New("data folder is in use")

// Folder is a data folder that this process holds: nobody else may open its stores meanwhile.
type Folder struct {
	Path string
	lock *os.File
}

// HoldFolder takes a data folder, creating it if it is not there and create is set.
func HoldFolder(path string, create bool) (*Folder, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	flags := os.O_RDWR
	if create {
		flags |= os.O_CREATE
		if err := os.MkdirAll(path, 0o750); err != nil {
			return nil, fmt.Errorf("server: data folder: %w", err)
		}
	}
	lock, err := os.OpenFile(filepath.Join(path, "lock"), flags, 0o640)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("server: %s is not a data folder: %w", path, err)
	}
	if err != nil {
		return nil, fmt.Errorf("server: data folder: %w", err)
	}
	// A lock of the open file, unlike a process's, also excludes a second server within this process.
	err = unix.FcntlFlock(lock.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart})
	if err != nil {
		holder, _ := io.ReadAll(io.LimitReader(lock, 32))
		lock.Close()
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
			return nil, fmt.Errorf("server: %s: %w by process %s", path, ErrInUse, strings.TrimSpace(string(holder)))
		}
		return nil, fmt.Errorf("server: lock %s: %w", lock.Name(), err)
	}
	f := &Folder{Path: path, lock: lock}
	if create {
		// Who holds it is for the message above only; the lock itself ends with the process.
		if err := errors.Join(lock.Truncate(0), writeAt(lock, fmt.Sprintln(os.Getpid()))); err != nil {
			return nil, errors.Join(fmt.Errorf("server: %w", err), f.Release())
		}
	}
	return f, nil
}

func writeAt(file *os.File, text string) error {
	_, err := file.WriteAt([]byte(text), 0)
	return err
}

// Release lets others take the folder.
func (f *Folder) Release() error { return f.lock.Close() }

// IndexDir is where the index lies.
func (f *Folder) IndexDir() string { return filepath.Join(f.Path, "index") }

// IncomingDir is where the incoming stores lie, one a node.
func (f *Folder) IncomingDir() string { return filepath.Join(f.Path, "incoming") }

// SacksDir is where the sacks lie.
func (f *Folder) SacksDir() string { return filepath.Join(f.Path, "sacks") }

// writeFile writes a small file so that after a crash it is there entirely or not at all.
func (f *Folder) writeFile(name string, content []byte) (err error) {
	path := filepath.Join(f.Path, name)
	file, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o640)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return err
	}
	dir, err := os.Open(f.Path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
