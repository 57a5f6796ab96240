package datafolder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/storage/claim"
)

// ClockPair is two clocks of which one has measured the other.
type ClockPair struct{ By, Of uuid.UUID }

// The error of a pair is kept in the name of an empty file, clocks/<by>.<of>.<nanoseconds>, whose content cannot be
// damaged. The greatest of several counts, from any process of a machine. Its time of change says when a clock of it
// was last in use.

// ClockErrors returns how far clocks were found to be from others, at the most.
func (f *Folder) ClockErrors() (map[ClockPair]time.Duration, error) {
	names, err := f.clockNames()
	found := make(map[ClockPair]time.Duration)
	for _, name := range names {
		if pair, far, ok := parseClockError(name); ok {
			found[pair] = max(found[pair], far)
		}
	}
	return found, err
}

// KeepClockError makes ClockErrors return far for a pair, or more.
func (f *Folder) KeepClockError(pair ClockPair, far time.Duration) error {
	if err := f.makeName(filepath.Join(clocksFolder, clockErrorName(pair, far))); err != nil {
		return err
	}
	return f.dropNames(clocksFolder, func(other string) bool {
		p, less, ok := parseClockError(other)
		return ok && p == pair && less < far
	})
}

// makeFolders makes a folder, durably, in the data folder that was opened.
func (f *Folder) makeFolders(name string) error {
	return claim.MakeFolders(f.Anchored(vfs.Default), f.Path, filepath.Join(f.Path, name))
}

// makeName makes an empty file, synced.
func (f *Folder) makeName(name string) error {
	path := filepath.Join(f.Path, name)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o640)
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), claim.SyncFolder(vfs.Default, filepath.Dir(path)))
}

// dropNames removes files of a folder, unsynced.
func (f *Folder) dropNames(folder string, which func(name string) bool) error {
	names, err := f.namesIn(folder)
	for _, name := range names {
		if which(name) {
			if gone := os.Remove(filepath.Join(f.Path, folder, name)); !errors.Is(gone, fs.ErrNotExist) {
				err = errors.Join(err, gone)
			}
		}
	}
	return err
}

// TendClockErrors marks the pairs of which a clock is in use as of today, and removes those that nobody has marked
// since: of clocks that are no further apart than most, as much as is assumed of a pair of which nothing is known.
func (f *Folder) TendClockErrors(inUse func(clock uuid.UUID) bool, since time.Time, most time.Duration) error {
	names, err := f.clockNames()
	if err != nil {
		return err
	}
	now := time.Now()
	var errs []error
	for _, name := range names {
		pair, far, ok := parseClockError(name)
		if !ok {
			continue
		}
		path := filepath.Join(f.Path, clocksFolder, name)
		if inUse(pair.By) || inUse(pair.Of) {
			err = os.Chtimes(path, time.Time{}, now)
		} else if info, statErr := os.Stat(path); statErr != nil {
			err = statErr
		} else if far <= most && info.ModTime().Before(since) {
			err = os.Remove(path)
		}
		if !errors.Is(err, fs.ErrNotExist) { // of several processes the first has done it
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func clockErrorName(pair ClockPair, far time.Duration) string {
	return fmt.Sprintf("%s.%s.%d", pair.By, pair.Of, int64(far))
}

func parseClockError(name string) (pair ClockPair, far time.Duration, ok bool) {
	parts := strings.Split(name, ".")
	if len(parts) != 3 {
		return pair, 0, false
	}
	by, byErr := uuid.Parse(parts[0])
	of, ofErr := uuid.Parse(parts[1])
	n, err := strconv.ParseInt(parts[2], 10, 64)
	pair, far = ClockPair{by, of}, time.Duration(n)
	return pair, far, errors.Join(byErr, ofErr, err) == nil && n >= 0 && clockErrorName(pair, far) == name
}
