package engine

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/storage"
)

// Tail is the end of a log or manifest that does not decode, and may never have been durable: a write that a kill or a
// power failure cut short, or damage to the last writes before it.
type Tail struct {
	File  string
	From  int64 // offset of the first byte that does not decode
	Bytes int64 // to the end of the file, which may be what it held before it was used anew
}

func (t *Tail) Error() string {
	return fmt.Sprintf("tail not provable: %s does not decode from byte %d on, and this is no older than a heartbeat: "+
		"a write that was cut short, or damage", t.File, t.From)
}

// IsAboutManifest reports whether a doubt is about the end of a manifest: tables may be there that the store no longer
// knows.
func IsAboutManifest(doubt error) bool {
	var tail *Tail
	return errors.As(doubt, &tail) && isManifest(tail.File)
}

// checked is what check has learnt of a store.
type checked struct {
	record   *fileRecord
	doubts   []error // what Check returns
	firstLog uint64  // number of the first log that the store still needs
}

// Check reads the manifest of the store in dir and the logs that it needs to their ends, and compares them with the
// record that their holder left. Pebble itself takes an invalid record for the end of the log, or of the manifest, and
// drops the rest. Damage is a storage.ErrCorrupt that names the file. Doubts are possible damage without proof: a
// *Tail, or a record that is damaged itself. A store that does not exist yet is in order. Every opening, and every
// search for damage, makes this check.
func Check(fs vfs.FS, dir string) (doubts []error, err error) {
	c, err := check(fs, dir)
	if err != nil {
		return nil, err
	}
	return c.doubts, nil
}

func check(fs vfs.FS, dir string) (*checked, error) {
	c := &checked{}
	names, err := fs.List(dir)
	if errors.Is(err, os.ErrNotExist) {
		names, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	if c.record, err = readFileRecord(fs, dir); errors.Is(err, storage.ErrCorrupt) {
		c.record = &fileRecord{} // the store may be all right: it is read without
		c.doubts = append(c.doubts, fmt.Errorf("nothing proves the ends of logs: %w", err))
	} else if err != nil {
		return nil, err
	}
	manifest, err := c.manifest(fs, dir, names)
	if err != nil || manifest == "" {
		return c, err
	}
	if c.firstLog, err = c.checkManifest(fs, dir, manifest); err != nil {
		return nil, err
	}
	return c, c.checkLogs(fs, dir, names, c.firstLog)
}

// Needs makes Check's comparison, and returns which files of the store's folder an opening needs: logs that are kept to
// be written over are not among them.
func Needs(fs vfs.FS, dir string) (func(name string) bool, error) {
	c, err := check(fs, dir)
	if err != nil {
		return nil, err
	}
	return func(name string) bool { return !isLog(name) || fileNumber(name) >= c.firstLog }, nil
}

// manifest returns the name of the manifest that counts, "" if there is no store.
func (c *checked) manifest(fs vfs.FS, dir string, names []string) (string, error) {
	newest := ""
	for name := range c.record.files {
		if isManifest(name) && (newest == "" || fileNumber(name) > fileNumber(newest)) {
			newest = name
		}
	}
	if len(names) == 0 {
		if newest != "" {
			return "", damage(fs, dir, newest, "is missing")
		}
		return "", nil
	}
	store, err := pebble.Peek(dir, fs)
	if err != nil {
		return "", fmt.Errorf("%w: %s: %w", storage.ErrCorrupt, dir, err)
	}
	if !store.Exists {
		held := slices.IndexFunc(names, func(name string) bool { return isTable(name) || isLog(name) })
		if newest != "" {
			return "", damage(fs, dir, newest, "is not what the store's marker names: there is none")
		}
		if held >= 0 {
			return "", damage(fs, dir, names[held], "is there, and no manifest that knows it")
		}
		return "", nil
	}
	name := fs.PathBase(store.ManifestFilename)
	if _, recorded := c.record.files[name]; !recorded && newest != "" && fileNumber(name) < fileNumber(newest) {
		return "", damage(fs, dir, name, "is what the store's marker names, but "+newest+" came later")
	}
	return name, nil
}

// checkManifest returns the number of the first log that the store still needs.
func (c *checked) checkManifest(fs vfs.FS, dir, name string) (firstLog uint64, err error) {
	content, err := readFile(fs, fs.PathJoin(dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return 0, damage(fs, dir, name, "is missing")
	}
	if err != nil {
		return 0, err
	}
	end, err := c.checkFile(fs, dir, name, content, manifestChunk)
	if err != nil {
		return 0, err
	}
	edits := record.NewReader(bytes.NewReader(content[:end]), 0)
	for {
		edit, err := edits.Next()
		if err != nil {
			return firstLog, nil // the end: checkFile has looked behind it
		}
		if number, ok := firstLogOf(bufio.NewReader(edit)); ok {
			firstLog = number
		}
	}
}

// Tags of a version edit that come before all others, as Pebble writes it.
const (
	tagComparer = 1
	tagFirstLog = 2
)

// firstLogOf returns the number of the first log that is needed as of a version edit, if that says so.
func firstLogOf(edit *bufio.Reader) (number uint64, ok bool) {
	tag, err := binary.ReadUvarint(edit)
	if err == nil && tag == tagComparer {
		length, lengthErr := binary.ReadUvarint(edit)
		_, discardErr := edit.Discard(int(length))
		tag, err = binary.ReadUvarint(edit)
		err = errors.Join(lengthErr, discardErr, err)
	}
	if err != nil || tag != tagFirstLog {
		return 0, false
	}
	number, err = binary.ReadUvarint(edit)
	return number, err == nil
}

// checkLogs checks the logs from the first one that is needed on.
func (c *checked) checkLogs(fs vfs.FS, dir string, names []string, first uint64) error {
	for name := range c.record.files {
		if isLog(name) && fileNumber(name) >= first && !slices.Contains(names, name) && c.record.files[name].bytes > 0 {
			return damage(fs, dir, name, "is missing")
		}
	}
	for _, name := range names {
		if !isLog(name) || fileNumber(name) < first {
			continue
		}
		content, err := readFile(fs, fs.PathJoin(dir, name))
		if err != nil {
			return err
		}
		if _, err := c.checkFile(fs, dir, name, content, logChunk(uint32(fileNumber(name)))); err != nil {
			return err
		}
	}
	return nil
}

// checkFile compares a file with its record, and returns where its last chunk ends.
func (c *checked) checkFile(fs vfs.FS, dir, name string, content []byte, format chunkFormat) (end int, err error) {
	want, recorded := c.record.files[name]
	if int64(len(content)) < want.bytes {
		return 0, damage(fs, dir, name, fmt.Sprintf("has %d bytes; %d were durable", len(content), want.bytes))
	}
	end, unclean := format.scan(content)
	if recorded && sumOf(content[:want.bytes]) != want.sum {
		if unclean && int64(end) < want.bytes {
			return 0, damage(fs, dir, name, fmt.Sprintf("does not decode at byte %d, of %d that were durable", end,
				want.bytes))
		}
		return 0, damage(fs, dir, name, fmt.Sprintf("is not what was written: its first %d bytes have another checksum",
			want.bytes))
	}
	// Zeros too: a page that was lost reads like the end of a log.
	if format.syncedBehind(content, end) {
		return 0, damage(fs, dir, name,
			fmt.Sprintf("does not decode at byte %d, and a later record says that this was durable", end))
	}
	if unclean {
		c.doubts = append(c.doubts, &Tail{File: name, From: int64(end), Bytes: int64(len(content) - end)})
	}
	return end, nil
}

func damage(fs vfs.FS, dir, name, what string) error {
	return fmt.Errorf("%w: %s %s", storage.ErrCorrupt, fs.PathJoin(dir, name), what)
}

// fileNumber returns the number in the name of a log or manifest.
func fileNumber(name string) uint64 {
	text, _, _ := strings.Cut(strings.TrimPrefix(name, "MANIFEST-"), ".")
	number, _ := strconv.ParseUint(text, 10, 64)
	return number
}
