package server_test

import (
	"context"
	"errors"
	"flag"
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/server"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// slowDisk is the disk, but each sync takes a while.
type slowDisk struct {
	vfs.FS
	sync atomic.Int64 // ns
}

func (d *slowDisk) Unwrap() vfs.FS { return d.FS }

func (d *slowDisk) slow(file vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return &slowFile{file, d}, nil
}

func (d *slowDisk) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return d.slow(d.FS.Create(name, c))
}

func (d *slowDisk) OpenReadWrite(name string, c vfs.DiskWriteCategory, options ...vfs.OpenOption) (vfs.File, error) {
	return d.slow(d.FS.OpenReadWrite(name, c, options...))
}

func (d *slowDisk) ReuseForWrite(old, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return d.slow(d.FS.ReuseForWrite(old, name, c))
}

func (d *slowDisk) OpenDir(name string) (vfs.File, error) { return d.slow(d.FS.OpenDir(name)) }

type slowFile struct {
	vfs.File
	disk *slowDisk
}

func (f *slowFile) wait() { time.Sleep(time.Duration(f.disk.sync.Load())) }

func (f *slowFile) Sync() error {
	f.wait()
	return f.File.Sync()
}

func (f *slowFile) SyncData() error {
	f.wait()
	return f.File.SyncData()
}

var (
	slowTTL  = flag.Duration("slow.ttl", 2*time.Second, "lease of TestSlowDisk's processes; the slack is half of it")
	slowSync = flag.Duration("slow.sync", 4*time.Second, "how long a sync takes there")
	slowTime = flag.Duration("slow.time", 4*time.Second, "for how long clients send requests")
)

// slowClient sends one request after the other, and knows how long they took.
type slowClient struct {
	what    string
	request func() error
	took    []time.Duration
	errs    []error
}

func (c *slowClient) run(until time.Time) {
	for time.Now().Before(until) {
		began := time.Now()
		if err := c.request(); err != nil {
			c.errs = append(c.errs, err)
		}
		c.took = append(c.took, time.Since(began))
		time.Sleep(50 * time.Millisecond) // so that those that need no sync are not all that the processes do
	}
	slices.Sort(c.took)
}

// On a disk where a sync takes longer than a lease, no process loses its lease and nothing changes hands. Measures and
// metadata are acknowledged late, reads go on, and all counts once.
func TestSlowDisk(t *testing.T) {
	disk := &slowDisk{FS: vfs.Default}
	options := func(role cluster.Role) server.Options {
		return server.Options{Cluster: cluster.Options{Data: data(t), FS: disk, Role: role, Sacks: 4,
			Lease: cluster.Lease{TTL: *slowTTL, Slack: *slowTTL / 2}}}
	}
	api, metricd := options(cluster.RoleAPI), options(cluster.RoleMetricd)
	metricd.Cluster.Data = api.Cluster.Data
	servers := []*server.Server{start(t, api), start(t, metricd)}
	c := clientOf(t, servers[0])
	must := func(err error) {
		t.Helper()
		fatal.If(t, err)
	}
	var metric struct{ ID string }
	post, get := http.MethodPost, http.MethodGet
	do := func(method, path string, body, answer any) error {
		return c.Do(t.Context(), method, path, body, answer)
	}
	newMetric := func() error {
		return do(post, "/v1/metric", map[string]any{"archive_policy_name": "p"}, &metric)
	}
	must(do(post, "/v1/archive_policy", map[string]any{"name": "p", "definition": []map[string]any{{"granularity": 1}},
		"back_window": 1000, "aggregation_methods": []string{"count"}}, nil))
	must(newMetric())
	measures := "/v1/metric/" + metric.ID + "/measures"
	sent := 0
	send := func() error {
		sent++
		return do(post, measures, []map[string]any{{"timestamp": 1_700_000_000 + sent, "value": 1}}, nil)
	}
	read := func(query string) (rows [][]any, err error) {
		err = do(get, measures+"?aggregation=count"+query, nil, &rows)
		if err == nil && len(rows) == 0 {
			err = errors.New("what was read before is gone")
		}
		return rows, err
	}
	type claims struct {
		Cluster struct {
			Members []struct{ ID string }
			Claims  []struct {
				Name, Member string
				Epoch        uint64
			}
		}
	}
	var before, after claims
	must(send())
	_, err := read("&refresh=true")
	must(err)
	must(do(get, "/v1/status", nil, &before))

	disk.sync.Store(int64(*slowSync))
	clients := []*slowClient{
		{what: "measures", request: send},
		{what: "reads", request: func() error { _, err := read(""); return err }},
		{what: "reads with refresh", request: func() error { _, err := read("&refresh=true"); return err }},
		{what: "metadata, read", request: func() error { return do(get, "/v1/archive_policy", nil, nil) }},
		{what: "metadata, written", request: newMetric},
	}
	var all sync.WaitGroup
	until := time.Now().Add(*slowTime)
	for _, c := range clients {
		all.Go(func() { c.run(until) })
	}
	all.Wait()
	disk.sync.Store(0)
	for _, c := range clients {
		t.Logf("%-20s %4d requests, %d failed, median %v, longest %v", c.what, len(c.took), len(c.errs),
			c.took[len(c.took)/2].Round(time.Millisecond), c.took[len(c.took)-1].Round(time.Millisecond))
		for _, err := range c.errs {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	must(send())
	for _, s := range servers {
		select {
		case err := <-s.Failed():
			t.Errorf("a process ended: %v", err)
		default:
		}
	}
	must(do(get, "/v1/status", nil, &after))
	if len(before.Cluster.Claims) != 4+2 || !reflect.DeepEqual(before, after) {
		t.Errorf("members and claims were %+v, are %+v", before, after)
	}
	rows, err := read("&refresh=true")
	must(err)
	for i, row := range rows {
		if row[2] != 1.0 {
			t.Errorf("row %d: %v", i, row)
		}
	}
	if len(rows) != sent {
		t.Errorf("%d of %d measures", len(rows), sent)
	}
	for _, s := range servers {
		stop(t, s)
	}
}

// networkDisk is a slow disk that does not belong to this machine.
type networkDisk struct{ *slowDisk }

func (networkDisk) Unwrap() vfs.FS { return nil }

// On a network disk a heartbeat is a sync, and one that takes as long as a lease loses it, at the time that the other
// processes count on.
func TestSlowNetworkDisk(t *testing.T) {
	disk := &slowDisk{FS: vfs.Default}
	coordinator, err := claim.NewFile(t.TempDir(), claim.Options{FS: networkDisk{disk}, TTL: *slowTTL,
		Slack: *slowTTL / 2})
	fatal.If(t, err)
	session, err := coordinator.Join(t.Context(), claim.Member{Node: "a"})
	fatal.If(t, err)
	disk.sync.Store(int64(*slowSync))
	began := time.Now()
	select {
	case <-session.Done():
	case <-time.After(*slowTTL + time.Minute):
		t.Fatal("the lease is not lost")
	}
	t.Logf("lost after %v: %v", time.Since(began).Round(10*time.Millisecond), session.Err())
	if session.Valid() {
		t.Error("the lease is valid")
	}
	disk.sync.Store(0)
	_ = session.Leave(context.Background()) // it is none any more
}

func data(t *testing.T) string { return filepath.Join(t.TempDir(), "data") }
