package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/internal/pause"
	"github.com/gnocco-db/gnocco/storage/claim"
)

// errMissing is the error of a folder without a store that should be there. A backup without it would look like a good
// one, and take the place of those that have the store.
var errMissing = errors.New("the store is missing in the data folder: bring it back, restore, " +
	"or accept its loss with gnocco fsck --repair --give-up STORE")

// expected returns the names of the stores to copy, in their order: incoming stores, sacks, index. The error is an
// errMissing if one is missing that was there before.
func (t *taking) expected(ctx context.Context) (names []string, err error) {
	names, err = t.folder.IncomingNames()
	if err != nil {
		return nil, err
	}
	known, err := claim.Known(vfs.Default, t.options.Data, strings.TrimSuffix(datafolder.IncomingPrefix, "/"))
	if err != nil {
		return nil, err
	}
	names = append(names, known...)
	slices.Sort(names)
	names = slices.Compact(names)
	for sack := range t.manifest.Sacks {
		names = append(names, datafolder.SackName(sack))
	}
	names = append(names, datafolder.IndexName)
	// All are looked for before anything is copied, which takes long. A store may be between two names, or about to be
	// removed.
	for tries := 1; ; tries++ {
		var missing []error
		for _, name := range names {
			if lost, err := t.isMissing(name); err != nil || lost {
				missing = append(missing, cmp.Or(err, fmt.Errorf("%s: %w", name, errMissing)))
			}
		}
		if len(missing) == 0 || tries >= missingTries {
			return names, errors.Join(missing...)
		}
		if err := pause.For(ctx, storePause); err != nil {
			return nil, err
		}
	}
}

// isMissing reports whether a store should be there and is not, or only as an earlier epoch than it was.
func (t *taking) isMissing(name string) (bool, error) {
	path, _, err := claim.Current(vfs.Default, filepath.Join(t.options.Data, name))
	if err != nil {
		return false, nil // the attempt to copy it says more
	}
	if path == "" {
		return t.shouldBe(name)
	}
	err = claim.Check(vfs.Default, t.options.Data, name)
	return errors.Is(err, claim.ErrMissing) || errors.Is(err, claim.ErrUnstable), nil
}

// shouldBe reports whether a store must be there, although no folder of it is: the folder's notes say so, or an earlier
// backup of the cluster has it. Incoming stores are removed when they are drained, sacks and the index never.
func (t *taking) shouldBe(name string) (bool, error) {
	formats, err := claim.NotedFormats(vfs.Default, t.options.Data, name)
	if err != nil || len(formats) > 0 {
		return true, err
	}
	if err := claim.Check(vfs.Default, t.options.Data, name); errors.Is(err, claim.ErrMissing) ||
		errors.Is(err, claim.ErrUnstable) {
		return true, nil
	}
	if strings.HasPrefix(name, datafolder.IncomingPrefix) {
		return false, nil
	}
	return name == datafolder.IndexName || slices.ContainsFunc(t.earlier, func(m *Manifest) bool {
		return m.Cluster == t.manifest.Cluster && m.Sacks == t.manifest.Sacks &&
			slices.ContainsFunc(m.Stores, func(s Store) bool { return s.Name == name })
	}), nil
}
