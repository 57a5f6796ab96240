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

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/claim"
)

const (
	clocksFolder = "clocks"
	damagedClock = ".damaged" // ends the name of a clock's file that a repair has set aside
)

// EnsureClock returns the time from which a machine's clock counts, in nanoseconds since 1970. The folder keeps this
// time in clocks/<id>. If it keeps none yet, EnsureClock returns origin, and the folder keeps that from now on. So all
// processes of a machine agree, whenever they start. The clock has the machine's ID, or one made of it if a repair has
// set its file aside: then its stamps are not mistaken for the earlier clock's.
func (f *Folder) EnsureClock(id uuid.UUID, origin int64) (clock uuid.UUID, since int64, err error) {
	if err := f.makeFolders(clocksFolder); err != nil {
		return id, 0, err
	}
	for {
		if clock, since, err = f.Clock(id); !errors.Is(err, fs.ErrNotExist) {
			return clock, since, errors.Join(err, claim.SyncFolder(vfs.Default, filepath.Join(f.Path, clocksFolder)))
		}
		name := filepath.Join(clocksFolder, clock.String())
		if err := f.createFile(name, appendClock(nil, origin)); err != nil && !errors.Is(err, fs.ErrExist) {
			return clock, 0, err
		}
	}
}

// Clock returns what EnsureClock returned for id before, or the ID that it would take and fs.ErrNotExist.
func (f *Folder) Clock(id uuid.UUID) (clock uuid.UUID, since int64, err error) {
	for {
		name := filepath.Join(clocksFolder, id.String())
		content, err := os.ReadFile(filepath.Join(f.Path, name))
		if err == nil {
			since, err = parseClock(name, content)
			return id, since, err
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return id, 0, err
		}
		if _, damaged := os.Stat(filepath.Join(f.Path, name+damagedClock)); damaged != nil {
			return id, 0, err
		}
		id = uuid.NewSHA1(id, []byte(damagedClock))
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

// DamagedClocks returns the names of the clocks' files that EnsureClock refuses.
func (f *Folder) DamagedClocks() ([]string, error) {
	names, err := f.clockNames()
	if err != nil {
		return nil, err
	}
	var damaged []string
	for _, base := range names {
		if strings.Contains(base, ".") {
			continue // not a clock
		}
		name := filepath.Join(clocksFolder, base)
		content, err := os.ReadFile(filepath.Join(f.Path, name))
		if err != nil {
			return nil, err
		}
		if _, err := parseClock(name, content); err != nil {
			damaged = append(damaged, name)
		}
	}
	return damaged, nil
}

// SetClockAside keeps a damaged clock's file under another name. The machine gets a new clock at the next start.
func (f *Folder) SetClockAside(name string) error {
	path := filepath.Join(f.Path, name)
	return errors.Join(os.Rename(path, path+damagedClock), claim.SyncFolder(vfs.Default, filepath.Dir(path)))
}

func (f *Folder) clockNames() ([]string, error) {
	names, err := f.namesIn(clocksFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return names, err
}

func (f *Folder) namesIn(folder string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(f.Path, folder))
	names := make([]string, 0, len(entries))
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names, err
}

// The latest reading of a clock, in nanoseconds since 1970, is kept in the name of an empty file:
// clocks/latest.<id>/readings/<reading>. The greatest of several counts. Each machine has a folder of its own, which is
// listed at a start alone: CephFS makes a write wait for as long as a dead machine has the folder in its cache, and a
// listing of clocks brings clocks/latest.<id> there. Earlier builds kept clocks/latest.<id>/<reading> and
// clocks/latest.<reading>.
const latestReading = "latest."

// LatestReading returns the latest reading that KeepReading was given for any clock, 0 for none.
func (f *Folder) LatestReading() (latest int64, err error) {
	err = filepath.WalkDir(filepath.Join(f.Path, clocksFolder), func(path string, _ fs.DirEntry, err error) error {
		latest = max(latest, parseReading(strings.TrimPrefix(filepath.Base(path), latestReading)))
		if errors.Is(err, fs.ErrNotExist) {
			return nil // dropped meanwhile, or none was ever kept
		}
		return err
	})
	return latest, err
}

// KeepReading makes LatestReading return at, or more, also after a power cut.
func (f *Folder) KeepReading(clock uuid.UUID, at int64) error {
	if err := f.makeFolders(readingsOf(clock)); err != nil {
		return err
	}
	return f.makeName(filepath.Join(readingsOf(clock), strconv.FormatInt(at, 10)))
}

// DropReadings removes a clock's kept readings from before at.
func (f *Folder) DropReadings(clock uuid.UUID, at int64) error {
	return f.dropNames(readingsOf(clock), func(name string) bool {
		before := parseReading(name)
		return before > 0 && before < at
	})
}

func readingsOf(clock uuid.UUID) string {
	return filepath.Join(clocksFolder, latestReading+clock.String(), "readings")
}

// parseReading returns 0 for a name that is no reading.
func parseReading(name string) int64 {
	at, err := strconv.ParseInt(name, 10, 64)
	if err != nil {
		return 0
	}
	return at
}
