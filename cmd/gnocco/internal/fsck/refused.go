package fsck

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/storage/claim"
)

// openError returns the error that a server would meet before it opens a store, by the same functions.
func (c *check) openError(name string) error { return claim.Check(vfs.Default, c.data.Path, name) }

// refuse notes a store that a server does without.
func (c *check) refuse(name string, reason error) {
	c.add(Finding{Store: name, Damage: true, Refused: true, What: "a server does without it: " + oneLine(reason),
		Lost: []string{"no repair brings back what is missing; --repair --give-up " + name + " accepts the loss"}})
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// epochFolders returns the folders of a store's epochs, the newest first.
func epochFolders(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	epochs := make(map[string]uint64)
	var paths []string
	for _, entry := range entries {
		if text, ok := strings.CutPrefix(entry.Name(), "e"); ok && entry.IsDir() {
			if epoch, err := strconv.ParseUint(text, 10, 64); err == nil {
				path := filepath.Join(dir, entry.Name())
				epochs[path] = epoch
				paths = append(paths, path)
			}
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return int(int64(epochs[b]) - int64(epochs[a])) })
	return paths, nil
}

// replace puts another store, which make writes into the folder that it gets, in the place of a damaged one. A crash
// leaves the one or the other. The damaged store stays beside it, in the folder that replace returns; "" if there was
// none. The next server takes the store as closed in order.
func (c *check) replace(ctx context.Context, name string, make func(ctx context.Context, to string) error) (
	aside string, err error) {
	base := filepath.Join(c.data.Path, name)
	dir, _, err := claim.Current(vfs.Default, base)
	if err != nil {
		return "", err
	}
	if dir == "" || dir == base {
		epoch, err := claim.LastEpoch(vfs.Default, c.data.Path, name)
		if err != nil {
			return "", err
		}
		dir = filepath.Join(base, fmt.Sprintf("e%d", max(epoch, 1)))
	}
	fresh := filepath.Join(base, "copy-of-"+filepath.Base(dir))
	if err := os.RemoveAll(fresh); err != nil { // of a repair that was cut short
		return "", err
	}
	if err := claim.MakeFolders(vfs.Default, c.data.Path, base); err != nil {
		return "", err
	}
	if err := make(ctx, fresh); err != nil {
		return "", err
	}
	if aside, err = swapIn(fresh, dir); err != nil {
		return "", err
	}
	// The claims describe the last state of the earlier store.
	return aside, errors.Join(datafolder.AtRest(vfs.Default, dir), claim.Forget(vfs.Default, c.data.Path, name))
}
