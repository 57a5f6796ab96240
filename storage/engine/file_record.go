package engine

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/storage"
)

// recordSuffix makes the name of a store's record of that of its folder.
const recordSuffix = ".written"

// RecordPath returns where the record of the store in dir lies: beside its folder, so that damage to the one is told by
// the other.
func RecordPath(dir string) string { return dir + recordSuffix }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// durablePrefix is what is known to be durable of a file that only grows: its first bytes, and their CRC-32C, which
// tells any single flipped bit.
type durablePrefix struct {
	bytes int64
	sum   uint32
}

// fileRecord says of a store's logs and manifests, by name, how far they were durable at some moment. It stays true
// for as long as the files are there: they only grow.
type fileRecord struct{ files map[string]durablePrefix }

const endWord = "end "

// encode returns the record as text: a line for each file, name, bytes and checksum, and at last a checksum of these.
func (r *fileRecord) encode() []byte {
	var dst []byte
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		f := r.files[name]
		dst = fmt.Appendf(dst, "%s %d %08x\n", name, f.bytes, f.sum)
	}
	return fmt.Appendf(dst, "%s%08x\n", endWord, crc32.Checksum(dst, castagnoli))
}

// decodeFileRecord reads what encode wrote.
func decodeFileRecord(src []byte) (*fileRecord, error) {
	r := &fileRecord{files: make(map[string]durablePrefix)}
	body := src[:max(0, len(src)-len(endWord)-9)]
	if string(src[len(body):]) != fmt.Sprintf("%s%08x\n", endWord, crc32.Checksum(body, castagnoli)) {
		return nil, fmt.Errorf("%w: record of a store's files", storage.ErrCorrupt)
	}
	for line := range strings.Lines(string(body)) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			return nil, fmt.Errorf("%w: record of a store's files: %q", storage.ErrCorrupt, line)
		}
		size, err := strconv.ParseInt(fields[1], 10, 64)
		sum, sumErr := strconv.ParseUint(fields[2], 16, 32)
		if err := errors.Join(err, sumErr); err != nil {
			return nil, fmt.Errorf("%w: record of a store's files: %w", storage.ErrCorrupt, err)
		}
		r.files[fields[0]] = durablePrefix{size, uint32(sum)}
	}
	return r, nil
}

// readFileRecord reads the record of the store in dir, an empty one if there is none: the folder is older than
// records, or new.
func readFileRecord(fs vfs.FS, dir string) (*fileRecord, error) {
	content, err := readFile(fs, RecordPath(dir))
	if errors.Is(err, os.ErrNotExist) {
		return &fileRecord{}, nil
	}
	if err != nil {
		return nil, err
	}
	r, err := decodeFileRecord(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", RecordPath(dir), err)
	}
	return r, nil
}

// writeRecord puts a record in its place at once, so that a crash leaves this one or the last.
func writeRecord(fs vfs.FS, dir string, content []byte) error {
	fresh := RecordPath(dir) + ".tmp"
	file, err := fs.Create(fresh, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return fs.Rename(fresh, RecordPath(dir))
}

// InheritRecord makes the record of the store in from also that of the one in to, which is about to become its copy.
// Records are replaced, never written to, so both names may have one file: it is durable, and damage stays damage.
func InheritRecord(fs vfs.FS, from, to string) error {
	err := fs.Link(RecordPath(from), RecordPath(to))
	if errors.Is(err, os.ErrExist) { // from an earlier attempt
		err = errors.Join(fs.Remove(RecordPath(to)), fs.Link(RecordPath(from), RecordPath(to)))
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// RecordFolder records the files of a store as they are now. It is for callers that alone can write to a store, and did
// so without a Recorder. suspect reports whether a file is known to be damaged, and may be nil: the record has another
// checksum for such a file, so that Check finds it.
func RecordFolder(fs vfs.FS, dir string, suspect func(name string) bool) error {
	names, err := fs.List(dir)
	if err != nil {
		return err
	}
	r := fileRecord{files: make(map[string]durablePrefix)}
	for _, name := range names {
		if !isRecorded(name) {
			continue
		}
		content, err := readFile(fs, fs.PathJoin(dir, name))
		if err != nil {
			return err
		}
		sum := crc32.Checksum(content, castagnoli)
		if suspect != nil && suspect(name) {
			sum = ^sum
		}
		r.files[name] = durablePrefix{int64(len(content)), sum}
	}
	return writeRecord(fs, dir, r.encode())
}

func readFile(fs vfs.FS, path string) (content []byte, err error) {
	file, err := fs.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	content = make([]byte, info.Size())
	n, err := io.ReadFull(file, content)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil
	}
	return content[:n], err
}

// isRecorded reports whether a file of that name is a log or a manifest: Pebble takes an invalid record at its end for
// one that was never finished. It checks all others itself.
func isRecorded(name string) bool { return isLog(name) || isManifest(name) }

func isManifest(name string) bool { return strings.HasPrefix(name, "MANIFEST-") }
