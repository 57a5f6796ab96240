package server_test

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/server"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

func start(t *testing.T, options server.Options) *server.Server {
	t.Helper()
	options.Listen, options.Cluster.MinFreeBytes, options.Cluster.Init = "127.0.0.1:0", 1<<20, true
	// With 10 s, a machine that stands still for so long ends the test program.
	options.Cluster.Lease.TTL = cmp.Or(options.Cluster.Lease.TTL, time.Minute)
	s, err := server.Start(t.Context(), options)
	fatal.If(t, err)
	return s
}

func stop(t *testing.T, s *server.Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := s.Close(ctx); err != nil {
		t.Error(err)
	}
}

func TestServerStartsAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	for round := range 3 {
		s := start(t, server.Options{Cluster: cluster.Options{Data: dir, Sacks: 2, SkipDefaultPolicies: true}})
		c, err := client.New(s.URL(), client.Options{User: "admin"})
		fatal.If(t, err)
		var policies []struct{ Name string }
		if err := c.Do(t.Context(), http.MethodGet, "/v1/archive_policy", nil, &policies); err != nil ||
			len(policies) != min(round, 1) {
			t.Errorf("round %d: %v, %v", round, policies, err)
		}
		policy := map[string]any{"name": "p", "definition": []map[string]any{{"granularity": 1, "points": 1}}}
		if err := c.EnsureArchivePolicy(t.Context(), "p", policy); err != nil {
			t.Error(err)
		}
		stop(t, s)
		if err := c.Do(t.Context(), http.MethodGet, "/", nil, nil); err == nil {
			t.Error("answers after Close")
		}
	}
}

// A start that fails must leave nothing held: the next one works.
func TestServerStartFailsCleanly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	stop(t, start(t, server.Options{Cluster: cluster.Options{Data: dir, Sacks: 2}}))
	fails := func(want string, options server.Options) {
		t.Helper()
		if options.Listen == "" {
			options.Listen = "127.0.0.1:0"
		}
		options.Cluster.Data = dir
		if s, err := server.Start(t.Context(), options); err == nil {
			stop(t, s)
			t.Errorf("started, want %q", want)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	other := start(t, server.Options{Cluster: cluster.Options{Data: t.TempDir()}})
	defer stop(t, other)
	fails("address already in use", server.Options{Listen: strings.TrimPrefix(other.URL(), "http://")})
	fails("Prefix", server.Options{API: api.Settings{Prefix: "gnocchi"}})
	fails("made with --sacks 2, which only gnocco sacks makes 3", server.Options{Cluster: cluster.Options{Sacks: 3}})

	file := func(name string) (restore func(), write func(string)) {
		t.Helper()
		path := filepath.Join(dir, name)
		content, err := os.ReadFile(path)
		fatal.If(t, err)
		write = func(text string) {
			t.Helper()
			fatal.If(t, os.WriteFile(path, []byte(text), 0o600))
		}
		return func() { write(string(content)) }, write
	}
	restore, write := file("cluster.json")
	write(`{"format": 4, "sacks": 2}`)
	fails("was written by a later version of gnocco: it has format 4, and this version knows format 3",
		server.Options{})
	write(`{"format": 4, "sacks": 2, "stores": 4}`)
	fails("was written by a later version of gnocco", server.Options{})
	write(`{"format": 3, "sacks": 0}`)
	fails("0 sacks", server.Options{})
	write(`{"format": 2, "sacks": 2}`)
	fails("format 2, not 3", server.Options{})
	write(`{`)
	fails("cluster.json", server.Options{})
	restore()

	restore, write = file("key")
	write("secret")
	fails("holds no key", server.Options{})
	restore()
	fatal.If(t, os.Chmod(filepath.Join(dir, "key"), 0o644))
	fails("may be read by others", server.Options{})
	fatal.If(t, os.Chmod(filepath.Join(dir, "key"), 0o600))

	stop(t, start(t, server.Options{Cluster: cluster.Options{Data: dir}}))
}

// A program refuses a folder in which a later one has opened a store, and leaves all of it as it is.
func TestLaterFormatIsRefusedFirst(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	options := server.Options{Cluster: cluster.Options{Data: dir, Sacks: 2}}
	stop(t, start(t, options))
	for _, name := range []string{"index", "sacks/001"} {
		own := datafolder.FormatOf(name)
		for _, later := range []claim.Format{{Store: own.Store + 1, Pebble: own.Pebble},
			{Store: own.Store, Pebble: own.Pebble + 1}} {
			fatal.If(t, claim.NoteStore(vfs.Default, dir, name, later))
			before := tree(t, dir)
			options.Listen = "127.0.0.1:0"
			s, err := server.Start(t.Context(), options)
			if err == nil {
				stop(t, s)
			}
			if !errors.Is(err, storage.ErrLaterFormat) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s in format %v: %v", name, later, err)
			}
			if after := tree(t, dir); !slices.Equal(before, after) {
				t.Errorf("%s in format %v: the folder had %v, and has %v", name, later, before, after)
			}
			fatal.If(t, os.Remove(filepath.Join(dir, "stores", name, later.String())))
		}
	}
	stop(t, start(t, options))
}

// tree returns the paths of all files and folders below dir.
func tree(t *testing.T, dir string) (paths []string) {
	t.Helper()
	fatal.If(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		paths = append(paths, path)
		return err
	}))
	return paths
}

func TestServerTellsWhyItStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := server.Start(ctx, server.Options{Cluster: cluster.Options{Data: t.TempDir()},
		Listen: "127.0.0.1:0"}); !errors.Is(err, context.Canceled) {
		t.Errorf("started with a context that has ended: %v", err)
	}
	if _, err := server.Start(t.Context(), server.Options{Cluster: cluster.Options{Sacks: -1,
		Workers: -1}}); err == nil ||
		!strings.Contains(err.Error(), "no data folder") || !strings.Contains(err.Error(), "workers is negative") {
		t.Errorf("not every fault is told: %v", err)
	}
}
