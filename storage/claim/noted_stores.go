package claim

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/storage"
)

// Format is how a store is written: the version of its keys and values, and Pebble's version of its files.
type Format struct{ Store, Pebble int }

func (f Format) String() string { return fmt.Sprintf("%d.%d", f.Store, f.Pebble) }

func parseFormat(text string) (f Format, ok bool) {
	_, err := fmt.Sscanf(text, "%d.%d", &f.Store, &f.Pebble)
	return f, err == nil && f.String() == text
}

// notesDir is where a note says that a store exists, apart from the store and the claims on it: if both vanish, the
// store is missed. A note is an empty file, named after the format of the store, in a folder of the store's name.
func notesDir(fs vfs.FS, root, name string) string { return fs.PathJoin(root, "stores", name) }

// NoteStore notes that the store called name exists, durably, and its format. The holder calls it once the store's
// folder is durable, and before it opens the store in that format.
func NoteStore(fs vfs.FS, root, name string, format Format) (err error) {
	defer wrap(&err, "note store %s", name)
	path := fs.PathJoin(notesDir(fs, root, name), format.String())
	if _, err := fs.Stat(path); err == nil { // its maker may have ended before it synced the name
		return SyncFolder(fs, fs.PathDir(path))
	} else if !notThere(err) {
		return err
	}
	return makeEmpty(fs, root, path)
}

// NotedFormats returns the formats in which a store is noted to have been, none for one that never was.
func NotedFormats(fs vfs.FS, root, name string) ([]Format, error) {
	names, err := list(fs, notesDir(fs, root, name))
	var formats []Format
	for _, name := range names {
		if f, ok := parseFormat(name); ok {
			formats = append(formats, f)
		}
	}
	return formats, err
}

// CheckFormat returns a storage.ErrLaterFormat if a store was ever opened in a format later than the one that this
// program writes. It changes nothing, and opens no store.
func CheckFormat(fs vfs.FS, root, name string, own Format) error {
	formats, err := NotedFormats(fs, root, name)
	if err != nil {
		return fmt.Errorf("claim: %s: %w", name, err)
	}
	for _, f := range formats {
		if f.Store > own.Store || f.Pebble > own.Pebble {
			return fmt.Errorf("claim: %s was %w: it has format %v, and this version knows formats up to %v", name,
				storage.ErrLaterFormat, f, own)
		}
	}
	return nil
}

// removeNotes forgets a store, durably.
func removeNotes(fs vfs.FS, root, name string) error {
	dir := notesDir(fs, root, name)
	if _, err := fs.Stat(dir); notThere(err) {
		return nil
	}
	if err := fs.RemoveAll(dir); err != nil {
		return err
	}
	return SyncFolder(fs, fs.PathDir(dir))
}

// Known returns the names of all stores below a prefix, such as incoming, that have claims or are noted, sorted.
func Known(fs vfs.FS, root, prefix string) ([]string, error) {
	claimed, err := list(fs, fs.PathJoin(root, "claims", prefix))
	noted, notedErr := list(fs, notesDir(fs, root, prefix))
	names := append(claimed, noted...)
	slices.Sort(names)
	names = slices.Compact(names)
	for i, name := range names {
		names[i] = prefix + "/" + name
	}
	return names, errors.Join(err, notedErr)
}
