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

// Folder is a data folder that this process may use.
type Folder struct {
	Path string
	lock *os.File
}

// HoldFolder takes a data folder for this process alone: no server has it, on this machine, and none can start meanwhile.
func HoldFolder(path string) (*Folder, error) { return lockFolder(path, os.O_RDWR, unix.F_WRLCK) }

// ShareFolder takes a data folder for a server, beside others, creating it if it is not there. Who may open which store is
// said by claims; the lock keeps away programs that want the folder for themselves.
func ShareFolder(path string) (*Folder, error) {
	if err := os.MkdirAll(path, 0o750); err != nil {
		return nil, fmt.Errorf("server: data folder: %w", err)
	}
	f, err := lockFolder(path, os.O_RDWR|os.O_CREATE, unix.F_RDLCK)
	if err != nil {
		return nil, err
	}
	// Who has it is for the message below only; the lock itself ends with the process.
	if err := errors.Join(f.lock.Truncate(0), writeAt(f.lock, fmt.Sprintln(os.Getpid()))); err != nil {
		return nil, errors.Join(fmt.Errorf("server: %w", err), f.Release())
	}
	return f, nil
}

func lockFolder(path string, flags int, kind int16) (*Folder, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(path, "lock"), flags, 0o640)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("server: %s is not a data folder: %w", path, err)
	}
	if err != nil {
		return nil, fmt.Errorf("server: data folder: %w", err)
	}
	// A lock of the open file, unlike a process's, also counts between parts of this process.
	err = unix.FcntlFlock(lock.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: kind, Whence: io.SeekStart})
	if err != nil {
		holder, _ := io.ReadAll(io.LimitReader(lock, 32))
		lock.Close()
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
			return nil, fmt.Errorf("server: %s: %w by process %s", path, ErrInUse, strings.TrimSpace(string(holder)))
		}
		return nil, fmt.Errorf("server: lock %s: %w", lock.Name(), err)
	}
	return &Folder{Path: path, lock: lock}, nil
}

func writeAt(file *os.File, text string) error {
	_, err := file.WriteAt([]byte(text), 0)
	return err
}

// Release lets others take the folder.
func (f *Folder) Release() error { return f.lock.Close() }

// IndexDir is where the index lies.
func (f *Folder) IndexDir() string { return filepath.Join(f.Path, "index") }

// IncomingDir is where the incoming stores lie, one a process that takes measures.
func (f *Folder) IncomingDir() string { return filepath.Join(f.Path, "incoming") }

// SacksDir is where the sacks lie.
func (f *Folder) SacksDir() string { return filepath.Join(f.Path, "sacks") }

// SackName is what a sack's store is called in claims: its folder, relative to the data folder.
func SackName(sack int) string { return fmt.Sprintf("sacks/%03d", sack) }

// indexName and incomingPrefix are the other stores' names in claims.
const (
	indexName      = "index"
	incomingPrefix = "incoming/"
)

// incomingNames returns the names of the incoming stores.
func (f *Folder) incomingNames() ([]string, error) {
	entries, err := os.ReadDir(f.IncomingDir())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("server: %w", err)
	}
	var names []string
	for _, entry := range entries {
		if entry.IsDir() {
			names = append(names, incomingPrefix+entry.Name())
		}
	}
	return names, nil
}

// writeFile writes a small file so that after a crash it is there entirely or not at all.
func (f *Folder) writeFile(name string, content []byte) error {
	return f.placeFile(name, content, os.Rename)
}

// createFile is writeFile for a file that must not be there: the error is os.ErrExist if it is.
func (f *Folder) createFile(name string, content []byte) error {
	return f.placeFile(name, content, func(from, to string) error { return errors.Join(os.Link(from, to), os.Remove(from)) })
}

func (f *Folder) placeFile(name string, content []byte, place func(from, to string) error) error {
	file, err := os.CreateTemp(f.Path, name+".new-")
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	err = errors.Join(err, file.Chmod(0o640), file.Sync(), file.Close())
	if err == nil {
		err = place(file.Name(), filepath.Join(f.Path, name))
	} else {
		err = errors.Join(err, os.Remove(file.Name()))
	}
	if err != nil {
		return err
	}
	dir, err := os.Open(f.Path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
