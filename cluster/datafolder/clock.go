package datafolder

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"gnocco/storage"
)

// EnsureClock returns from when on the clock of an ID counts, in nanoseconds since 1970: what the folder keeps of it in
// clocks/<id>, or origin, which it keeps from now on. So all processes of a machine agree, whenever they start.
func (f *Folder) EnsureClock(id uuid.UUID, origin int64) (int64, error) {
	name := filepath.Join("clocks", id.String())
	if err := os.MkdirAll(filepath.Join(f.Path, "clocks"), 0o750); err != nil {
		return 0, err
	}
	for {
		content, err := os.ReadFile(filepath.Join(f.Path, name))
		if err == nil {
			return parseClock(name, content)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
		if err := f.createFile(name, appendClock(nil, origin)); err != nil && !errors.Is(err, fs.ErrExist) {
			return 0, err
		}
	}
}

// appendClock writes what parseClock reads: the number, and its CRC-32C.
func appendClock(dst []byte, origin int64) []byte {
	text := strconv.FormatInt(origin, 10)
	return fmt.Appendf(dst, "%s %08x\n", text, sumOf(text))
}

func sumOf(text string) uint32 {
	return crc32.Checksum([]byte(text), crc32.MakeTable(crc32.Castagnoli))
}

// parseClock reads a clock's file. Earlier builds wrote the number alone.
func parseClock(name string, content []byte) (origin int64, err error) {
	fields := strings.Fields(string(content))
	if len(fields) == 0 || len(fields) > 2 || len(fields) == 2 && fields[1] != fmt.Sprintf("%08x", sumOf(fields[0])) {
		return 0, fmt.Errorf("%w: %s", storage.ErrCorrupt, name)
	}
	if origin, err = strconv.ParseInt(fields[0], 10, 64); err != nil {
		return 0, fmt.Errorf("%w: %s: %w", storage.ErrCorrupt, name, err)
	}
	return origin, nil
}

// CheckClocks returns the errors that EnsureClock would meet in what is kept.
func (f *Folder) CheckClocks() error {
	paths, err := filepath.Glob(filepath.Join(f.Path, "clocks", "*"))
	errs := []error{err}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err == nil {
			_, err = parseClock("clocks/"+filepath.Base(path), content)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
