package claim

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sync/errgroup"

	"github.com/gnocco-db/gnocco/storage/engine"
)

var (
	// ErrSuperseded is the error of a takeover behind which there already is another: the claim is no longer worth
	// anything.
	ErrSuperseded = errors.New("taken over by a later epoch")
	// ErrUnstable is the error of a store that somebody still writes to, or of which this machine does not yet see all.
	// Trying again later may help.
	ErrUnstable = errors.New("the store's files are not at rest")
	// ErrMissing is the error of a store that was there, and of which no folder is, or an empty one. On a network disk
	// this machine may not see it yet: trying again later may help.
	ErrMissing = errors.New("the store is missing")
)

// takeOverTries is how often a store that changes while it is copied is copied anew.
const takeOverTries = 10

// TakeOver makes the folder of an epoch that was just claimed, out of the last complete epoch's files, and returns its
// path. The caller opens it as a Pebble store on the same fs, which should be a Fence. The store lies in <root>/<name>.
// Where there was no store the folder is empty.
//
// A store that was closed in order (MarkClosed) is renamed. Of any other, files that never change are linked and the
// rest is copied, so that nothing which its last holder still does reaches the new folder. The last holder's record of
// the store's files (engine.Recorder) also holds for the new folder: engine.Open compares. If epoch has its folder
// already, from an attempt before, that is returned.
func TakeOver(fs vfs.FS, root, name string, epoch uint64) (path string, err error) {
	dir := fs.PathJoin(root, name)
	path = fs.PathJoin(dir, epochName(epoch))
	for range takeOverTries {
		if err = takeOver(fs, root, dir, path, epoch); !errors.Is(err, ErrUnstable) {
			break
		}
	}
	if err != nil {
		return "", fmt.Errorf("claim: take over %s at epoch %d: %w", dir, epoch, err)
	}
	return path, nil
}

func takeOver(fs vfs.FS, root, dir, path string, epoch uint64) error {
	f, err := readEpochFolders(fs, dir)
	if err != nil {
		return err
	}
	last := f.highest()
	switch {
	case last > epoch:
		return fmt.Errorf("%w, %d", ErrSuperseded, last)
	case last == epoch:
		return SyncFolder(fs, dir) // an earlier call may have failed at that
	case last == 0:
		if err := build(fs, root, dir, path, func(string) error { return nil }); err != nil {
			return err
		}
		return MakeFolders(fs, root, fs.PathDir(dir)) // a process that made it may have ended before it synced the name
	case slices.Contains(f.closed, last):
		return rename(fs, dir, path, last)
	}
	from := fs.PathJoin(dir, epochName(last))
	return build(fs, root, dir, path, func(to string) error {
		return errors.Join(duplicate(fs, from, to), engine.InheritRecord(fs, from, path))
	})
}

// Folder returns where the store in dir lies at an epoch.
func Folder(fs vfs.FS, dir string, epoch uint64) string { return fs.PathJoin(dir, epochName(epoch)) }

// UndoTakeOver makes the folder that TakeOver found the newest again, if it made one for the epoch: the store could not
// be opened there, and what is damaged is to stay as it was found. The store must not have been opened under this epoch
// before, else it holds what the folder before does not.
func UndoTakeOver(fs vfs.FS, dir string, epoch uint64) (err error) {
	defer wrap(&err, "undo the takeover of %s at epoch %d", dir, epoch)
	f, err := readEpochFolders(fs, dir)
	if err != nil || f.highest() != epoch {
		return err
	}
	path := fs.PathJoin(dir, epochName(epoch))
	var copied, renamed uint64 // from where it may have been made: a folder before, or one that is only known as closed
	for _, before := range f.epochs[:len(f.epochs)-1] {
		copied = max(copied, before)
	}
	for _, before := range f.closed {
		if before < epoch {
			renamed = max(renamed, before)
		}
	}
	switch {
	case renamed > copied:
		err = fs.Rename(path, fs.PathJoin(dir, epochName(renamed)))
	case copied > renamed:
		err = fs.RemoveAll(path)
	default:
		return nil
	}
	if err == nil {
		err = fs.Remove(engine.RecordPath(path))
	}
	if err != nil && !notThere(err) {
		return err
	}
	return SyncFolder(fs, dir)
}

// rename takes over a store that was closed in order.
func rename(fs vfs.FS, dir, path string, last uint64) error {
	if err := checkClosed(fs, dir, last); err != nil {
		return err
	}
	from := fs.PathJoin(dir, epochName(last))
	if err := engine.InheritRecord(fs, from, path); err != nil {
		return err
	}
	if err := fs.Rename(from, path); err != nil {
		return unstable(err)
	}
	return SyncFolder(fs, dir)
}

// checkClosed compares a store that was closed in order with its state at that time.
func checkClosed(fs vfs.FS, dir string, epoch uint64) error {
	path := fs.PathJoin(dir, epochName(epoch))
	content, err := read(fs, path+closed)
	if err != nil {
		return err
	}
	files, err := inventory(fs, path)
	if err != nil {
		return unstable(err)
	}
	// On a network this machine may have seen the folder some seconds ago, and not look again.
	if now := files.encode(); !bytes.Equal(content, now) {
		return fmt.Errorf("%w: %s is not as it was closed: %s", ErrUnstable, path,
			difference(string(content), string(now)))
	}
	return nil
}

// difference names a file that one inventory has, and the other has not, or with another size.
func difference(closed, now string) string {
	for line := range strings.Lines(closed) {
		if name, bytes, ok := strings.Cut(strings.TrimSpace(line), " "); ok && !strings.Contains(now, line) {
			if strings.Contains("\n"+now, "\n"+name+" ") {
				return name + " had " + bytes + " bytes"
			}
			return name + " is missing"
		}
	}
	return "it has more files"
}

// build makes a folder that is complete from the moment it has its name.
func build(fs vfs.FS, root, dir, path string, fill func(to string) error) error {
	to := path + building
	if err := fs.RemoveAll(to); err != nil {
		return err
	}
	if err := MakeFolders(fs, root, dir); err != nil {
		return err
	}
	if err := fs.MkdirAll(to, folderMode); err != nil {
		return err
	}
	if err := fill(to); err != nil {
		return err
	}
	if err := SyncFolder(fs, to); err != nil {
		return err
	}
	if err := fs.Rename(to, path); err != nil {
		return err
	}
	return SyncFolder(fs, dir)
}

// duplicate fills the folder to with the store in from. No process should write there any more; if one does
// nevertheless, the copied files may not fit together. Then sizes or names differ before and after.
func duplicate(fs vfs.FS, from, to string) error {
	before, err := inventory(fs, from)
	if err != nil {
		return unstable(err)
	}
	for _, file := range before {
		source, target := fs.PathJoin(from, file.name), fs.PathJoin(to, file.name)
		if IsImmutable(file.name) {
			err = fs.Link(source, target)
		} else {
			err = vfs.Copy(fs, source, target)
		}
		if err != nil {
			return unstable(err)
		}
	}
	after, err := inventory(fs, from)
	if err != nil {
		return unstable(err)
	}
	if !slices.Equal(before, after) {
		return fmt.Errorf("%w: %s changed meanwhile", ErrUnstable, from)
	}
	return nil
}

// unstable makes a file that disappeared an ErrUnstable.
func unstable(err error) error {
	if notThere(err) {
		return fmt.Errorf("%w: %w", ErrUnstable, err)
	}
	return err
}

// MarkClosed notes that the store of that epoch was closed in order, after which its holder does nothing more to it.
// The next takeover is one rename then. The record of the store's files is brought up to date before.
func MarkClosed(fs vfs.FS, dir string, epoch uint64) (err error) {
	path := fs.PathJoin(dir, epochName(epoch))
	defer wrap(&err, "mark %s as closed", path)
	fresh := path + closed + building
	var steps errgroup.Group // each waits for the disk
	if r := engine.RecorderOf(fs); r != nil {
		steps.Go(func() error {
			err := r.RecordStore(path)
			if err == nil {
				r.Forget(path)
			}
			return err
		})
	}
	// Then a crash does not bring removed files back: with them the store would not be as it was closed.
	var files inventoried
	if err = SyncFolder(fs, path); err == nil {
		files, err = inventory(fs, path)
	}
	// Synced before it has its name, or a power failure could leave the name of an empty file. The name is not synced:
	// without it the takeover is slower, and no worse.
	if err == nil {
		err = write(fs, fresh, files.encode())
	}
	if err = errors.Join(err, steps.Wait()); err == nil {
		err = fs.Rename(fresh, path+closed)
	}
	return err
}

// RemoveOld removes what a store was before the given epoch. Its holder calls it Options.Grace after it opened the
// store: others may be about to look at what they saw before, and only an open store is known to hold as much. On a
// local disk the holder also calls it at once, so that short-lived processes do not fill the disk. The later call then
// removes the leftovers of a process that was about to take the store.
//
// Of a store on an engine.Recorder nothing is removed before it is open and its record written. If it was opened in
// doubt, the newest old epoch stays as a folder of another name, until the next such: its logs and manifests, and its
// tables too if the doubt is about a manifest, which knows them.
func RemoveOld(fs vfs.FS, dir string, epoch uint64) (err error) {
	defer wrap(&err, "remove old epochs")
	var doubts []error
	if r := engine.RecorderOf(fs); r != nil {
		path, opened := fs.PathJoin(dir, epochName(epoch)), false
		if opened, doubts = r.Opened(path); !opened {
			return fmt.Errorf("%s is not open at epoch %d", dir, epoch)
		}
		if err := r.RecordStore(path); err != nil {
			return err
		}
	}
	f, err := readEpochFolders(fs, dir)
	if err != nil {
		return err
	}
	if !slices.Contains(f.epochs, epoch) {
		return fmt.Errorf("%s has no epoch %d", dir, epoch)
	}
	var errs []error
	if at := slices.Index(f.epochs, epoch); len(doubts) > 0 && at > 0 {
		errs = append(errs, keepUnproven(fs, dir, &f, f.epochs[at-1],
			slices.ContainsFunc(doubts, engine.IsAboutManifest)))
	}
	for _, name := range f.names {
		if old, ok := parseEpoch(epochOf(name)); ok && old < epoch {
			errs = append(errs, fs.RemoveAll(fs.PathJoin(dir, name)))
		}
	}
	return errors.Join(errs...)
}

// keepUnproven keeps an epoch that is about to go, in place of the epoch that was kept before.
func keepUnproven(fs vfs.FS, dir string, f *epochFolders, epoch uint64, tables bool) error {
	from := fs.PathJoin(dir, epochName(epoch))
	names, err := fs.List(from)
	if err != nil {
		return err
	}
	for _, name := range names {
		if IsImmutable(name) && !tables {
			if err := fs.Remove(fs.PathJoin(from, name)); err != nil {
				return err
			}
		}
	}
	for _, name := range f.kept {
		if err := fs.RemoveAll(fs.PathJoin(dir, name)); err != nil {
			return err
		}
	}
	return fs.Rename(from, fs.PathJoin(dir, unprovenPrefix+epochName(epoch)))
}

// Current returns the folder of a store as it is now, for readers of a data folder that no process serves. It is the
// newest complete epoch, "" if there is none.
func Current(fs vfs.FS, dir string) (path string, epoch uint64, err error) {
	f, err := readEpochFolders(fs, dir)
	if err != nil {
		return "", 0, fmt.Errorf("claim: %w", err)
	}
	if epoch = f.highest(); epoch == 0 {
		return "", 0, nil
	}
	return fs.PathJoin(dir, epochName(epoch)), epoch, nil
}

// file is one of a store.
type file struct {
	name  string
	bytes int64
}

// inventoried are a store's files by name, without those that say nothing of its content.
type inventoried []file

func inventory(fs vfs.FS, dir string) (inventoried, error) {
	names, err := fs.List(dir)
	if err != nil {
		return nil, err
	}
	var files inventoried
	for _, name := range names {
		if !ofPebble(name) {
			continue
		}
		info, err := fs.Stat(fs.PathJoin(dir, name))
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, info.Size()})
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return files, nil
}

func (i inventoried) encode() []byte {
	var dst []byte
	for _, f := range i {
		dst = append(dst, f.name...)
		dst = append(dst, ' ')
		dst = strconv.AppendInt(dst, f.bytes, 10)
		dst = append(dst, '\n')
	}
	// so that a file of which nothing is to be seen yet is no inventory of an empty store
	return append(dst, "end\n"...)
}
