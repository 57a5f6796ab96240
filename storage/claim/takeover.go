package claim

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

var (
	// ErrSuperseded is the error of a takeover behind which there already is another: the claim is no longer worth anything.
	ErrSuperseded = errors.New("taken over by a later epoch")
	// ErrUnstable is the error of a store that somebody still writes to, or of which this machine does not yet see all.
	// Trying again later may help.
	ErrUnstable = errors.New("the store's files are not at rest")
)

// takeOverTries is how often a store that changes while it is copied is copied anew.
const takeOverTries = 10

// TakeOver makes the folder of an epoch that was just claimed, out of what the last complete one holds, and returns its path,
// to be opened as a Pebble store on the same fs, which should be a Fence. dir is the store's folder, <root>/<name>. Where
// there was no store the folder is empty.
//
// A store that was closed in order (MarkClosed) is renamed. Of any other, files that never change are linked and the rest is
// copied, so that nothing which its last holder still does reaches the new folder. If epoch has its folder already, from an
// attempt before, that is returned.
func TakeOver(fs vfs.FS, dir string, epoch uint64) (path string, err error) {
	path = fs.PathJoin(dir, epochName(epoch))
	for range takeOverTries {
		if err = takeOver(fs, dir, path, epoch); !errors.Is(err, ErrUnstable) {
			break
		}
	}
	if err != nil {
		return "", fmt.Errorf("claim: take over %s at epoch %d: %w", dir, epoch, err)
	}
	return path, nil
}

func takeOver(fs vfs.FS, dir, path string, epoch uint64) error {
	f, err := readFolders(fs, dir)
	if err != nil {
		return err
	}
	last := f.highest()
	switch {
	case last > epoch:
		return fmt.Errorf("%w, %d", ErrSuperseded, last)
	case last == epoch:
		return nil
	case last == 0 && !f.hasLooseStore():
		return build(fs, dir, path, func(string) error { return nil })
	case slices.Contains(f.closed, last):
		return rename(fs, dir, path, last)
	}
	from := dir
	if last != 0 {
		from = fs.PathJoin(dir, epochName(last))
	}
	return build(fs, dir, path, func(to string) error { return duplicate(fs, from, to) })
}

// rename takes over a store that was closed in order.
func rename(fs vfs.FS, dir, path string, last uint64) error {
	from := fs.PathJoin(dir, epochName(last))
	content, err := read(fs, from+closed)
	if err != nil {
		return err
	}
	files, err := inventory(fs, from)
	if err != nil {
		return unstable(err)
	}
	// On a network this machine may have seen the folder some seconds ago, and not look again.
	if !bytes.Equal(content, files.encode()) {
		return fmt.Errorf("%w: %s is not as it was closed", ErrUnstable, from)
	}
	if err := fs.Rename(from, path); err != nil {
		return unstable(err)
	}
	return syncFolder(fs, dir)
}

// build makes a folder that is complete from the moment it has its name.
func build(fs vfs.FS, dir, path string, fill func(to string) error) error {
	to := path + building
	if err := fs.RemoveAll(to); err != nil {
		return err
	}
	if err := makeFolders(fs, dir); err != nil {
		return err
	}
	if err := fs.MkdirAll(to, folderMode); err != nil {
		return err
	}
	if err := fill(to); err != nil {
		return err
	}
	if err := syncFolder(fs, to); err != nil {
		return err
	}
	if err := fs.Rename(to, path); err != nil {
		return err
	}
	return syncFolder(fs, dir)
}

// duplicate fills the folder to with the store in from. Nobody should write there any more; if somebody does nevertheless, what
// was copied may not fit together. Then sizes or names differ before and after.
func duplicate(fs vfs.FS, from, to string) error {
	before, err := inventory(fs, from)
	if err != nil {
		return unstable(err)
	}
	for _, file := range before {
		source, target := fs.PathJoin(from, file.name), fs.PathJoin(to, file.name)
		if immutable(file.name) {
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

// MarkClosed notes that the store of that epoch was closed in order, after which its holder does nothing more to it. The next
// takeover is one rename then.
func MarkClosed(fs vfs.FS, dir string, epoch uint64) error {
	path := fs.PathJoin(dir, epochName(epoch))
	files, err := inventory(fs, path)
	if err != nil {
		return fmt.Errorf("claim: mark %s as closed: %w", path, err)
	}
	// Linked to its name, so that it is seen as a whole. It is not synced: without it the takeover is slower, and no worse.
	fresh := path + closed + building
	file, err := fs.Create(fresh, vfs.WriteCategoryUnspecified)
	if err == nil {
		_, err = file.Write(files.encode())
		err = errors.Join(err, file.Close())
	}
	if err == nil {
		err = fs.Rename(fresh, path+closed)
	}
	if err != nil {
		return fmt.Errorf("claim: mark %s as closed: %w", path, err)
	}
	return nil
}

// RemoveOld removes what a store was before the given epoch. Its holder calls it Options.Grace after it opened the store, and
// not before: others may only now be about to look at what they saw then.
func RemoveOld(fs vfs.FS, dir string, epoch uint64) error {
	f, err := readFolders(fs, dir)
	if err != nil {
		return fmt.Errorf("claim: remove old epochs: %w", err)
	}
	if !slices.Contains(f.epochs, epoch) {
		return fmt.Errorf("claim: remove old epochs: %s has no epoch %d", dir, epoch)
	}
	var errs []error
	for _, old := range f.epochs {
		if old < epoch {
			errs = append(errs, fs.RemoveAll(fs.PathJoin(dir, epochName(old))))
		}
	}
	for _, old := range f.closed {
		if old < epoch {
			errs = append(errs, fs.Remove(fs.PathJoin(dir, epochName(old)+closed)))
		}
	}
	for _, name := range f.built {
		if old, _ := parseEpoch(strings.TrimSuffix(name, building)); old < epoch {
			errs = append(errs, fs.RemoveAll(fs.PathJoin(dir, name)))
		}
	}
	for _, name := range f.loose {
		errs = append(errs, fs.Remove(fs.PathJoin(dir, name)))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("claim: remove old epochs: %w", err)
	}
	return nil
}

// Current returns the folder of a store as it is now, for who looks at a data folder that nobody serves: the newest complete
// epoch, dir itself for a store without epochs, "" if there is none.
func Current(fs vfs.FS, dir string) (path string, epoch uint64, err error) {
	f, err := readFolders(fs, dir)
	if err != nil {
		return "", 0, fmt.Errorf("claim: %w", err)
	}
	if epoch = f.highest(); epoch != 0 {
		return fs.PathJoin(dir, epochName(epoch)), epoch, nil
	}
	if f.hasLooseStore() {
		return dir, 0, nil
	}
	return "", 0, nil
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
		if !ofPebble(name) || name == lockName || strings.HasSuffix(name, ".dbtmp") {
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
	return append(dst, "end\n"...) // so that a file of which nothing is to be seen yet is no inventory of an empty store
}
