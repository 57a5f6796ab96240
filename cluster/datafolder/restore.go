package datafolder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sys/unix"

	"github.com/gnocco-db/gnocco/storage/claim"
)

// restoreFile marks a data folder whose restore is not complete.
const restoreFile = "restoring"

// errRestore keeps a server from starting.
var errRestore = errors.New("a restore was cut short: run gnocco restore again")

// Restore makes a new cluster in the folder at path, with the stores that fill writes there. The folder must be empty,
// or missing, or a restore into it was cut short: then what that wrote is removed first. No server starts on the folder
// before Restore has returned.
func Restore(path string, sacks int, coordination string, fill func() error) (err error) {
	if err := claim.MakeFolders(vfs.Default, "", path); err != nil {
		return fmt.Errorf("datafolder: %w", err)
	}
	f := &Folder{Path: path}
	marker := filepath.Join(path, restoreFile)
	entries, err := os.ReadDir(path)
	if err != nil {
		return fmt.Errorf("datafolder: %w", err)
	}
	again := exists(marker)
	if len(entries) > 0 && !again && (len(entries) > 1 || entries[0].Name() != "lost+found") {
		return fmt.Errorf("datafolder: %s is not empty: restore into a new folder", path)
	}
	file, err := os.OpenFile(marker, os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return fmt.Errorf("datafolder: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := setLock(file, unix.F_WRLCK); err != nil {
		return fmt.Errorf("datafolder: another restore into %s is under way: %w", path, err)
	}
	if err := errors.Join(file.Sync(), claim.SyncFolder(vfs.Default, path)); err != nil {
		return fmt.Errorf("datafolder: %w", err)
	}
	for _, entry := range entries {
		if again && entry.Name() != restoreFile && entry.Name() != "lost+found" {
			if err := os.RemoveAll(filepath.Join(path, entry.Name())); err != nil {
				return fmt.Errorf("datafolder: %w", err)
			}
		}
	}
	if err := fill(); err != nil {
		return err
	}
	c := ClusterFile{Format: formatVersion, Sacks: sacks, Coordination: coordination, ID: newClusterID()}
	if err := f.writeClusterFile(c, f.createFile); err != nil {
		return err
	}
	if err := errors.Join(os.Remove(marker), claim.SyncFolder(vfs.Default, path)); err != nil {
		return fmt.Errorf("datafolder: %w", err)
	}
	return nil
}
