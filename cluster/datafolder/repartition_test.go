package datafolder_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/server"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// repartitioned is a data folder with metrics whose count and sum are known.
type repartitioned struct {
	t       *testing.T
	data    string
	metrics []string
	posted  int // measures of each metric
}

func makeRepartitioned(t *testing.T, sacks, metrics int) *repartitioned {
	t.Helper()
	r := &repartitioned{t: t, data: filepath.Join(t.TempDir(), "data")}
	r.serve(sacks, func(c *client.Client) {
		policy := map[string]any{"name": "p", "aggregation_methods": []string{"count", "sum"},
			"definition": []map[string]any{{"granularity": 60, "points": 10000}}}
		fatal.If(t, c.EnsureArchivePolicy(t.Context(), "p", policy))
		for range metrics {
			var m struct{ ID string }
			if err := c.Do(t.Context(), http.MethodPost, "/v1/metric",
				map[string]any{"archive_policy_name": "p"}, &m); err != nil {
				t.Fatal(err)
			}
			r.metrics = append(r.metrics, m.ID)
		}
		r.post(c)
	})
	return r
}

// serve runs a server on the folder for as long as f takes.
func (r *repartitioned) serve(sacks int, f func(*client.Client)) {
	r.t.Helper()
	s := start(r.t, server.Options{Cluster: cluster.Options{Data: r.data, Sacks: sacks}})
	defer stop(r.t, s)
	c, err := client.New(s.URL(), client.Options{User: "admin"})
	if err != nil {
		r.t.Fatal(err)
	}
	f(c)
}

// post sends ten measures more to each metric, and one of before again, late.
func (r *repartitioned) post(c *client.Client) {
	r.t.Helper()
	batch := make(map[string][]map[string]any)
	for _, id := range r.metrics {
		for i := range 10 {
			batch[id] = append(batch[id], map[string]any{"timestamp": 1_700_000_000 + r.posted + i, "value": 1})
		}
		if r.posted > 0 {
			batch[id] = append(batch[id], map[string]any{"timestamp": 1_700_000_000 + r.posted - 5, "value": 1})
		}
	}
	if err := c.Do(r.t.Context(), http.MethodPost, "/v1/batch/metrics/measures", batch, nil); err != nil {
		r.t.Fatal(err)
	}
	r.posted += 10
}

// check reads all back, posts more, and reads again.
func (r *repartitioned) check(sacks int) {
	r.t.Helper()
	r.serve(sacks, func(c *client.Client) {
		for range 2 {
			for _, id := range r.metrics {
				var measures [][3]any
				if err := c.Do(r.t.Context(), http.MethodGet,
					"/v1/metric/"+id+"/measures?aggregation=count&refresh=true", nil, &measures); err != nil {
					r.t.Fatal(err)
				}
				total := 0.0
				for _, m := range measures {
					total += m[2].(float64)
				}
				if int(total) != r.posted {
					r.t.Errorf("metric %s has %v measures, %d were sent", id, total, r.posted)
				}
				var archive struct {
					Late int `json:"late_measures"`
				}
				if err := c.Do(r.t.Context(), http.MethodGet, "/v1/metric/"+id+"/archive", nil, &archive); err != nil {
					r.t.Fatal(err)
				}
				if want := r.posted/10 - 1; archive.Late != want {
					r.t.Errorf("metric %s has %d late measures, %d were sent", id, archive.Late, want)
				}
			}
			r.post(c)
		}
	})
}

func repartition(t *testing.T, data string, to int, tell func(datafolder.Progress)) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	return datafolder.Repartition(ctx, vfs.Default, data, to, drain(data), func(p datafolder.Progress) {
		if tell != nil {
			tell(p)
		}
	})
}

// drain returns what serves a folder until all that was accepted is in the archives.
func drain(data string) func(context.Context) error {
	return func(ctx context.Context) error {
		return server.Drain(ctx, server.Options{Cluster: cluster.Options{Data: data, MinFreeBytes: 1 << 20}})
	}
}

func start(t *testing.T, options server.Options) *server.Server {
	t.Helper()
	options.Listen, options.Cluster.MinFreeBytes = "127.0.0.1:0", 1<<20
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

// All archives are found under another number of sacks, more or fewer, and go on there.
func TestRepartition(t *testing.T) {
	r := makeRepartitioned(t, 3, 40)
	for _, to := range []int{7, 7, 1, 4} {
		fatal.If(t, repartition(t, r.data, to, nil))
		r.check(to)
	}
	if err := repartition(t, r.data, 0, nil); err == nil || !strings.Contains(err.Error(), "1 to") {
		t.Errorf("0 sacks: %v", err)
	}
	if err := repartition(t, t.TempDir(), 3, nil); err == nil {
		t.Error("a folder that is no data folder is taken")
	}
	r.serve(4, func(*client.Client) {
		if err := repartition(t, r.data, 2, nil); !errors.Is(err, datafolder.ErrInUse) {
			t.Errorf("a folder that is served: %v", err)
		}
	})
}

// Cut short wherever it may be, no server starts, and the next call goes on.
func TestRepartitionGoesOn(t *testing.T) {
	const sacks = 3
	r := makeRepartitioned(t, sacks, 25)
	to := 5
	interrupted := func(r *repartitioned, stage string) {
		t.Helper()
		options := server.Options{Cluster: cluster.Options{Data: r.data}, Listen: "127.0.0.1:0"}
		if s, err := server.Start(t.Context(), options); err == nil || !strings.Contains(err.Error(), "gnocco sacks") {
			if err == nil {
				stop(t, s)
			}
			t.Fatalf("%s: a server starts (%v)", stage, err)
		}
		if err := repartition(t, r.data, to+1, nil); err == nil ||
			!strings.Contains(err.Error(), fmt.Sprintf("to %d sacks", to)) {
			t.Fatalf("%s: another change begins: %v", stage, err)
		}
	}
	for stop := range sacks + 1 {
		type cut struct{}
		func() {
			defer func() {
				if _, ok := recover().(cut); !ok {
					t.Fatal("went through")
				}
			}()
			_ = repartition(t, r.data, to, func(p datafolder.Progress) {
				if p.Copied == stop {
					panic(cut{})
				}
			})
		}()
		interrupted(r, fmt.Sprintf("%d sacks copied", stop))
	}
	fatal.If(t, repartition(t, r.data, to, nil))
	r.check(to)

	// The same for the states between the steps of the exchange, set up by hand.
	for stage, arrange := range map[string]func(path func(string) string) error{
		"nothing exchanged": func(func(string) string) error { return nil },
		"old sacks gone": func(path func(string) string) error {
			return os.Rename(path("sacks"), path("sacks.old"))
		},
		"new sacks in place": func(path func(string) string) error {
			return errors.Join(os.Rename(path("sacks"), path("sacks.old")), os.Rename(path("sacks.new"), path("sacks")))
		},
	} {
		r := makeRepartitioned(t, sacks, 25)
		func() {
			defer func() { _ = recover() }()
			err := repartition(t, r.data, to, func(p datafolder.Progress) {
				if p.Copied == sacks {
					panic("copied")
				}
			})
			t.Errorf("%s: went through: %v", stage, err)
		}()
		// The last step of copying adds the journal that all is copied; the test writes it here.
		path := func(name string) string { return filepath.Join(r.data, name) }
		if stage != "nothing exchanged" {
			journal := fmt.Sprintf(`{"from":%d,"to":%d,"copied":%d,"switching":true}`, sacks, to, sacks)
			fatal.If(t, os.WriteFile(path("repartition.json"), []byte(journal), 0o600))
		}
		fatal.If(t, arrange(path))
		interrupted(r, stage)
		if err := repartition(t, r.data, to, nil); err != nil {
			t.Fatalf("%s: %v", stage, err)
		}
		r.check(to)
	}
}

// syncs is a file system that knows which folders were synced.
type syncs struct {
	vfs.FS
	names []string
}

func (s *syncs) OpenDir(name string) (vfs.File, error) {
	s.names = append(s.names, filepath.Base(name))
	return s.FS.OpenDir(name)
}

// A change that goes on syncs the names of folders that the one before, which was cut short, had made.
func TestRepartitionSyncsFoldersOfAnEarlierRun(t *testing.T) {
	r := makeRepartitioned(t, 3, 20)
	cut, cancel := context.WithCancel(t.Context())
	if err := datafolder.Repartition(cut, vfs.Default, r.data, 2, drain(r.data), func(p datafolder.Progress) {
		if p.Copied == 1 {
			cancel()
		}
	}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	fs := &syncs{FS: vfs.Default}
	err := datafolder.Repartition(t.Context(), fs, r.data, 2, drain(r.data), func(datafolder.Progress) {})
	fatal.If(t, err)
	for _, name := range []string{"sacks.new", "000", "001"} {
		if !slices.Contains(fs.names, name) {
			t.Errorf("%s was not synced: %q", name, fs.names)
		}
	}
}

// With measures that are in no archive nothing changes, and a server can start to process them.
func TestRepartitionMissesMeasures(t *testing.T) {
	r := makeRepartitioned(t, 3, 20)
	s := start(t, server.Options{Cluster: cluster.Options{Data: r.data, CheckpointInterval: time.Hour}})
	c, err := client.New(s.URL(), client.Options{User: "admin"})
	fatal.If(t, err)
	r.post(c)
	hurried, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Close(hurried); err == nil {
		t.Fatal("all measures are in the archives")
	}
	nothing := func(context.Context) error { return nil }
	err = datafolder.Repartition(t.Context(), vfs.Default, r.data, 2, nothing, func(datafolder.Progress) {})
	if err == nil || !strings.Contains(err.Error(), "in no archive") {
		t.Fatalf("measures are lost: %v", err)
	}
	fatal.If(t, repartition(t, r.data, 2, nil))
	r.check(2)
}

// A sack that is missing, or in whose place another lies, keeps the number as it is, and the folder can be repaired.
func TestRepartitionMissesSacks(t *testing.T) {
	r := makeRepartitioned(t, 3, 40)
	path := func(name string) string { return filepath.Join(r.data, name) }
	if err := errors.Join(os.Rename(path("sacks/001"), path("sacks.001")),
		os.Rename(path("claims/sacks/001"), path("claims.001"))); err != nil {
		t.Fatal(err)
	}
	refused := func(want error) {
		t.Helper()
		if err := repartition(t, r.data, 2, nil); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	refused(claim.ErrMissing)
	fatal.If(t, os.CopyFS(path("sacks/001"), os.DirFS(path("sacks/002"))))
	refused(archive.ErrOtherSack)
	if err := errors.Join(os.RemoveAll(path("sacks/001")), os.RemoveAll(path("claims/sacks/001")),
		os.Rename(path("sacks.001"), path("sacks/001")), os.Rename(path("claims.001"), path("claims/sacks/001")),
	); err != nil {
		t.Fatal(err)
	}
	fatal.If(t, repartition(t, r.data, 2, nil))
	r.check(2)
}
