package datafolder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/google/uuid"
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
		if err := f.createFile(name, fmt.Appendln(nil, origin)); err != nil && !errors.Is(err, fs.ErrExist) {
			return 0, err
		}
	}
}

func parseClock(name string, content []byte) (origin int64, err error) {
	if origin, err = strconv.ParseInt(strings.TrimSpace(string(content)), 10, 64); err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return origin, err
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
