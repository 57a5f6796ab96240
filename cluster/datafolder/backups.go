package datafolder

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gnocco-db/gnocco/model"
)

const (
	backupsFolder = "backups" // a file for each backup, named after the time at which it began
	keptBackups   = 100
	backupTime    = "20060102T150405.000000000Z"
)

// RecordBackup keeps what is known of a backup, and forgets all but the newest keptBackups and the last that did not
// fail. It asks no process, and none has to run.
func (f *Folder) RecordBackup(b *model.Backup) error {
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	dir := filepath.Join(f.Path, backupsFolder)
	if err := os.Mkdir(dir, 0o750); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("datafolder: %w", err)
	}
	name := b.Begun.UTC().Format(backupTime) + ".json"
	if err := f.writeFile(filepath.Join(backupsFolder, name), text); err != nil {
		return fmt.Errorf("datafolder: record a backup: %w", err)
	}
	good := ""
	err = f.eachBackup("", func(name string, b model.Backup) bool {
		good = name
		return b.Error != ""
	})
	names, listErr := f.backupNames()
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, followerPrefix) })
	for err = errors.Join(err, listErr); len(names) > keptBackups && err == nil; names = names[1:] {
		if names[0] == good {
			continue // its age is what people are alarmed by
		}
		if err = os.Remove(filepath.Join(dir, names[0])); errors.Is(err, fs.ErrNotExist) {
			err = nil // another backup was faster
		}
	}
	return err
}

// followerPrefix begins the names of records of followers: each has one, by where it copies to.
const followerPrefix = "following-"

// RecordFollower keeps how far a copy is that follows the folder: b is its last round that went well, with the error of
// a later one.
func (f *Folder) RecordFollower(b *model.Backup) error {
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(f.Path, backupsFolder), 0o750); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("datafolder: %w", err)
	}
	name := fmt.Sprintf("%s%x.json", followerPrefix, sha256.Sum256([]byte(b.To)))
	return f.writeFile(filepath.Join(backupsFolder, name), text)
}

// FollowedTo returns the moment before which all acknowledged measures are in all copies that follow the folder, the
// zero time if none does.
func (f *Folder) FollowedTo() (to time.Time, err error) {
	err = f.eachBackup(followerPrefix, func(_ string, b model.Backup) bool {
		if to.IsZero() || b.Begun.Before(to) {
			to = b.Begun
		}
		return true
	})
	return to, err
}

// Backups returns what is known of backups: of those that follow the folder, and of others, the newest first.
func (f *Folder) Backups() ([]model.Backup, error) {
	all := []model.Backup{}
	err := f.eachBackup("", func(_ string, b model.Backup) bool {
		all = append(all, b)
		return true
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// LastBackup returns when the newest backup ended that did not fail, the zero time without one.
func (f *Folder) LastBackup() (ended time.Time, err error) {
	err = f.eachBackup("", func(_ string, b model.Backup) bool {
		if b.Error == "" && b.Ended.After(ended) {
			ended = b.Ended
		}
		return b.Error != "" || b.Follows
	})
	return ended, err
}

// eachBackup calls visit with the records of backups whose names have the prefix, the newest first, until it returns
// false.
func (f *Folder) eachBackup(prefix string, visit func(name string, b model.Backup) bool) error {
	names, err := f.backupNames()
	if err != nil {
		return err
	}
	for _, name := range slices.Backward(names) {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(f.Path, backupsFolder, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("datafolder: %w", err)
		}
		var b model.Backup
		if err := json.Unmarshal(text, &b); err != nil {
			b.Error = fmt.Sprintf("the record backups/%s is damaged: %v", name, err)
		}
		if b.Follows = strings.HasPrefix(name, followerPrefix); !visit(name, b) {
			break
		}
	}
	return nil
}

// backupNames returns the names of the records, the earliest first. A file that was being written is none.
func (f *Folder) backupNames() (names []string, err error) {
	entries, err := os.ReadDir(filepath.Join(f.Path, backupsFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("datafolder: %w", err)
	}
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) == ".json" {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}
