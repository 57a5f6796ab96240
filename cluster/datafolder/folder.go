package datafolder

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gnocco-db/gnocco/internal/fulldisk"
	"github.com/gnocco-db/gnocco/storage/claim"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sys/unix"
)

// ErrInUse is the error of a data folder that another process holds.
var ErrInUse = errors.New("data folder is in use")

// Folder is a data folder that this process may use.
type Folder struct {
	Path string
	fs   vfs.FS // of the stores; nil: the disk
	lock *os.File

	dir      *os.File // the folder, as Enter opened it; nil: it did not
	anchored string   // a path that leads to it after any mount; "": none

	folders sync.Map // entries of IncomingDir that are known to be folders

	checking   sync.Mutex
	id         string      // of the cluster
	root, file os.FileInfo // of the folder and its cluster.json, as Enter found them
}

// Hold takes a data folder for this process alone: no server has it, on this machine, and none can start meanwhile.
func Hold(path string) (*Folder, error) { return lockFolder(path, os.O_RDWR, unix.F_WRLCK) }

// Share takes a data folder for a server, beside others, and creates a missing one. Claims decide which process may
// open a store; the lock keeps away programs that need the folder for themselves.
func Share(path string) (*Folder, error) {
	// os.MkdirAll would say of a dead mount that the file exists.
	if _, err := os.Stat(path); refusal(path, err) != nil {
		return nil, refusal(path, err)
	}
	if err := claim.MakeFolders(vfs.Default, "", path); err != nil {
		return nil, fmt.Errorf("datafolder: data folder: %w", err)
	}
	f, err := lockFolder(path, os.O_RDWR|os.O_CREATE, unix.F_RDLCK)
	if err != nil {
		return nil, err
	}
	// The holder's name is for the message below only; the lock itself ends with the process.
	// A full disk keeps nobody from starting for that.
	err = f.lock.Truncate(0)
	_, failed := f.lock.WriteAt(fmt.Appendln(nil, os.Getpid()), 0)
	if err = errors.Join(err, failed); err != nil && !fulldisk.Is(err) {
		return nil, errors.Join(fmt.Errorf("datafolder: %w", err), f.Release())
	}
	return f, nil
}

func lockFolder(path string, flags int, kind int16) (*Folder, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("datafolder: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(path, "lock"), flags, 0o640)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("datafolder: %s is not a data folder: %w", path, err)
	}
	if err != nil {
		return nil, refusal(path, err)
	}
	if err = setLock(lock, kind); err != nil {
		holder, _ := io.ReadAll(io.LimitReader(lock, 32))
		lock.Close()
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
			return nil, fmt.Errorf("datafolder: %s: %w by process %s", path, ErrInUse,
				strings.TrimSpace(string(holder)))
		}
		return nil, fmt.Errorf("datafolder: lock %s: %w", lock.Name(), err)
	}
	return &Folder{Path: path, lock: lock}, nil
}

// setLock sets a lock of the open file: unlike a process's, it also counts between parts of this process.
func setLock(file *os.File, kind int16) error {
	return unix.FcntlFlock(file.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: kind, Whence: io.SeekStart})
}

// Release lets others take the folder. It ends the lock before it closes the file, which a child of this process may
// have open too, between fork and exec. NFS has close say that an earlier process's name could not be written.
func (f *Folder) Release() error {
	defer f.lock.Close()
	if f.dir != nil {
		f.anchored = ""
		defer f.dir.Close()
	}
	return setLock(f.lock, unix.F_UNLCK)
}

// IndexDir is the folder of the index.
func (f *Folder) IndexDir() string { return filepath.Join(f.Path, "index") }

// IncomingDir is the folder of the incoming stores, one for each process that takes measures.
func (f *Folder) IncomingDir() string { return filepath.Join(f.Path, "incoming") }

// SacksDir is the folder of the sacks.
func (f *Folder) SacksDir() string { return filepath.Join(f.Path, "sacks") }

// SackName is the name of a sack's store in claims: its folder, relative to the data folder.
func SackName(sack int) string { return fmt.Sprintf("%s%03d", SacksPrefix, sack) }

// The stores' names in claims. A prefix is followed by the name of a store's folder.
const (
	IndexName      = "index"
	IncomingPrefix = "incoming/"
	SacksPrefix    = "sacks/"
)

// IncomingNames returns the names of the incoming stores, as claims have them.
func (f *Folder) IncomingNames() ([]string, error) {
	disk := f.disk()
	entries, err := disk.List(f.IncomingDir())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("datafolder: %w", err)
	}
	slices.Sort(entries)
	var names []string
	for _, entry := range entries {
		if _, known := f.folders.Load(entry); !known { // a folder stays one
			info, err := disk.Stat(filepath.Join(f.IncomingDir(), entry))
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				return nil, fmt.Errorf("datafolder: %w", err)
			}
			if err != nil || !info.IsDir() {
				continue // one that is gone meanwhile is none
			}
			f.folders.Store(entry, true)
		}
		names = append(names, IncomingPrefix+entry)
	}
	return names, nil
}

// RefreshIncomingNames makes the next IncomingNames show all stores that other machines made before. node is this
// process's.
func (f *Folder) RefreshIncomingNames(node string) error {
	err := claim.RefreshListing(f.disk(), f.IncomingDir(), node)
	if errors.Is(err, os.ErrNotExist) {
		return nil // there is none
	}
	return err
}

func (f *Folder) disk() vfs.FS { return cmp.Or(f.fs, vfs.Default) }

// WriteFile writes a small file so that after a crash it is there entirely or not at all.
func (f *Folder) WriteFile(name string, content []byte) error {
	return f.placeFile(name, content, os.Rename)
}

// createFile is writeFile for a file that must not be there: the error is os.ErrExist if it is.
func (f *Folder) createFile(name string, content []byte) error {
	return f.placeFile(name, content,
		func(from, to string) error { return errors.Join(os.Link(from, to), os.Remove(from)) })
}

func (f *Folder) placeFile(name string, content []byte, place func(from, to string) error) error {
	target := filepath.Join(f.Path, name)
	file, err := os.CreateTemp(filepath.Dir(target), filepath.Base(target)+".new-")
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	err = errors.Join(err, file.Chmod(0o640), file.Sync(), file.Close())
	if err == nil {
		err = place(file.Name(), target)
	} else {
		err = errors.Join(err, os.Remove(file.Name()))
	}
	if err != nil {
		return err
	}
	return claim.SyncFolder(vfs.Default, filepath.Dir(target))
}
