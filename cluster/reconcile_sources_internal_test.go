package cluster

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// oldListing shows empty folders until this mount makes a file.
type oldListing struct {
	vfs.FS
	changed bool
}

func (o *oldListing) List(dir string) ([]string, error) {
	if !o.changed {
		return nil, nil
	}
	return o.FS.List(dir)
}

func (o *oldListing) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	o.changed = true
	return o.FS.Create(name, category)
}

// sourcesOn returns the sources of a process that starts on a mount.
func sourcesOn(t *testing.T, mount vfs.FS) (*sources, *knownTrial) {
	t.Helper()
	folder, _, _, err := datafolder.Enter(t.TempDir(), datafolder.Terms{Sacks: 6, Make: true, FS: mount,
		Coordination: datafolder.CoordinationFile})
	fatal.If(t, err)
	t.Cleanup(func() { _ = folder.Release() })
	_, sacks := sackOf("a")
	known := newKnownTrial()
	return &sources{members: sacks.members, folder: folder, known: known.knownStores,
		attached: make(map[string]*source),
		stores:   &incomingStores{environment: sacks.environment, folder: folder}}, known
}

// The first look at the incoming stores passes a listing that is old.
func TestSourcesPassOldListing(t *testing.T) {
	s, known := sourcesOn(t, &oldListing{FS: vfs.Default})
	fatal.If(t, os.MkdirAll(filepath.Join(s.folder.IncomingDir(), "b"), 0o750))
	fatal.If(t, s.reconcile(t.Context(), true))
	if known.stores["incoming/b"] == nil {
		t.Error("the store of another machine is not known")
	}
}

// A refresh waits for a store that was announced and that no listing shows yet.
func TestRefreshNeedsAnnouncedStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, known := sourcesOn(t, vfs.Default)
		fatal.If(t, s.reach(t.Context(), time.Now().Add(holderWait)))
		known.announce("incoming/b")
		if err := s.reach(t.Context(), time.Now().Add(holderWait)); !errors.Is(err, model.ErrUnavailable) {
			t.Errorf("a refresh without the announced store gives %v", err)
		}
	})
}

// A refresh that fails looks whether a store that the sacks take from is gone.
func TestRefreshLooksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done, looked := errors.New("done"), false
		l := &localArchives{look: func(context.Context) error { looked = true; return nil },
			reach: func(context.Context, time.Time) error {
				if looked {
					return done
				}
				return model.ErrUnavailable
			}}
		began := time.Now()
		if _, err := refresh.local(t.Context(), l, nil, nothing{}); err != done || time.Since(began) > 2*holderLook {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// A store that was drained and removed is not adopted by the listing from before.
func TestRemovedStoreIsNotAdoptedAnew(t *testing.T) {
	s, _ := sourcesOn(t, vfs.Default)
	path := filepath.Join(s.folder.IncomingDir(), "b")
	stores := s.stores
	stores.logger, stores.detach = slog.New(slog.DiscardHandler), func(string) {}
	store, err := incoming.Open(filepath.Join(path, "e1"), incoming.Options{Sacks: 6})
	fatal.If(t, err)
	stores.open = map[string]*incoming.Store{"incoming/b": store}
	f := func(want ...string) {
		t.Helper()
		if listing, err := stores.list(true); err != nil || !slices.Equal(listing.names, want) {
			t.Errorf("%v, %v, want %v", listing.names, err, want)
		}
	}
	f("incoming/b")
	fatal.If(t, stores.dismiss(t.Context(), "incoming/b", store))
	fatal.If(t, os.RemoveAll(path))
	f()
}
