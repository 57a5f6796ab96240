package backup

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

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/claim"
)

const (
	recordsFolder = "backups" // a file for each backup, named after the time at which it began
	keptRecords   = 100
	recordTime    = "20060102T150405.000000000Z"
)

// Record keeps what is known of a backup, and forgets all but the newest keptRecords and the last that did not
// fail. It asks no process, and none has to run.
func Record(f *datafolder.Folder, b *model.Backup) error {
	if err := writeRecord(f, b.Begun.UTC().Format(recordTime), b); err != nil {
		return err
	}
	good := ""
	err := eachRecord(f, "", func(name string, b model.Backup) bool {
		good = name
		return b.Error != ""
	})
	names, listErr := recordNames(f)
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, followerPrefix) })
	for err = errors.Join(err, listErr); len(names) > keptRecords && err == nil; names = names[1:] {
		if names[0] == good {
			continue // its age is what people are alarmed by
		}
		if err = os.Remove(filepath.Join(f.Path, recordsFolder, names[0])); errors.Is(err, fs.ErrNotExist) {
			err = nil // another backup was faster
		}
	}
	return err
}

// followerPrefix begins the names of records of followers: each has one, by where it copies to.
const followerPrefix = "following-"

// RecordFollower keeps how far a copy is that follows the folder: b is its last round that went well, with the error of
// a later one.
func RecordFollower(f *datafolder.Folder, b *model.Backup) error {
	return writeRecord(f, fmt.Sprintf("%s%x", followerPrefix, sha256.Sum256([]byte(b.To))), b)
}

// writeRecord writes a record, which replaces one of the same name.
func writeRecord(f *datafolder.Folder, name string, b *model.Backup) error {
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	if err := claim.MakeFolders(vfs.Default, f.Path, filepath.Join(f.Path, recordsFolder)); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	if err := f.WriteFile(filepath.Join(recordsFolder, name+".json"), text); err != nil {
		return fmt.Errorf("backup: record: %w", err)
	}
	return nil
}

// FollowedTo returns the moment before which all acknowledged measures are in all copies that follow the folder, the
// zero time if none does.
func FollowedTo(f *datafolder.Folder) (to time.Time, err error) {
	err = eachRecord(f, followerPrefix, func(_ string, b model.Backup) bool {
		if to.IsZero() || b.Begun.Before(to) {
			to = b.Begun
		}
		return true
	})
	return to, err
}

// Records returns what is known of backups: of those that follow the folder, and of others, the newest first.
func Records(f *datafolder.Folder) ([]model.Backup, error) {
	all := []model.Backup{}
	err := eachRecord(f, "", func(_ string, b model.Backup) bool {
		all = append(all, b)
		return true
	})
	return all, err
}

// LastEnded returns when the newest backup ended that did not fail, the zero time without one.
func LastEnded(f *datafolder.Folder) (ended time.Time, err error) {
	err = eachRecord(f, "", func(_ string, b model.Backup) bool {
		if b.Error == "" && b.Ended.After(ended) {
			ended = b.Ended
		}
		return b.Error != "" || b.Follows
	})
	return ended, err
}

// eachRecord calls visit with the records of backups whose names have the prefix, the newest first, until it returns
// false.
func eachRecord(f *datafolder.Folder, prefix string, visit func(name string, b model.Backup) bool) error {
	names, err := recordNames(f)
	if err != nil {
		return err
	}
	for _, name := range slices.Backward(names) {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(f.Path, recordsFolder, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("backup: %w", err)
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

// recordNames returns the names of the records, the earliest first. A file that was being written is none.
func recordNames(f *datafolder.Folder) (names []string, err error) {
	entries, err := os.ReadDir(filepath.Join(f.Path, recordsFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("backup: %w", err)
	}
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) == ".json" {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}
