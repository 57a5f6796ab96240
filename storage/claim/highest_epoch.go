package claim

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// HighestEpoch returns the highest epoch of all the stores and claims below a data folder, for a coordinator that
// counts in another way and must begin above it.
func HighestEpoch(fs vfs.FS, root string) (uint64, error) {
	highest := uint64(0)
	look := func(dir string, of func(string) (uint64, bool)) error {
		epoch, err := highestIn(fs, fs.PathJoin(root, dir), of)
		highest = max(highest, epoch)
		return err
	}
	errs := []error{look("index", parseEpoch), look("claims/index", parseClaimEpoch)}
	for _, kind := range []string{"incoming", "sacks"} {
		parsers := map[string]func(string) (uint64, bool){kind: parseEpoch, "claims/" + kind: parseClaimEpoch}
		for dir, of := range parsers {
			names, err := list(fs, fs.PathJoin(root, dir))
			errs = append(errs, err)
			for _, name := range names {
				errs = append(errs, look(dir+"/"+name, of))
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return 0, fmt.Errorf("claim: %w", err)
	}
	return highest, nil
}

// highestIn returns the highest epoch of one store, or of the claims on it.
func highestIn(fs vfs.FS, dir string, of func(name string) (uint64, bool)) (uint64, error) {
	if info, err := fs.Stat(dir); err != nil || !info.IsDir() {
		if notThere(err) {
			err = nil
		}
		return 0, err
	}
	names, err := list(fs, dir)
	highest := uint64(0)
	for _, name := range names {
		text, _, _ := strings.Cut(name, ".") // also of an epoch that is not complete, or given back
		if epoch, ok := of(text); ok {
			highest = max(highest, epoch)
		}
	}
	return highest, err
}
