package server_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"gnocco/cluster"
	"gnocco/internal/server"
)

// slowDisk is the disk, of which each sync takes a while.
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

// On a disk where a sync takes longer than a lease, no process loses its lease and nothing changes hands. Measures are
// acknowledged late, reads go on, and all counts once.
func TestSlowDisk(t *testing.T) {
	const ttl = 2 * time.Second
	disk := &slowDisk{FS: vfs.Default}
	options := func(role cluster.Role) server.Options {
		return server.Options{Cluster: cluster.Options{Data: data(t), FS: disk, Role: role, Sacks: 4, LeaseTTL: ttl, LeaseSlack: time.Second}}
	}
	api, metricd := options(cluster.RoleAPI), options(cluster.RoleMetricd)
	metricd.Cluster.Data = api.Cluster.Data
	servers := []*server.Server{start(t, api), start(t, metricd)}
	c := clientOf(t, servers[0])
	do := func(method, path string, body, answer any) {
		t.Helper()
		if err := c.Do(t.Context(), method, path, body, answer); err != nil {
			t.Fatal(err)
		}
	}
	var metric struct{ ID string }
	do(http.MethodPost, "/v1/archive_policy", map[string]any{"name": "p", "definition": []map[string]any{{"granularity": 1}}, "back_window": 1000,
		"aggregation_methods": []string{"count"}}, nil)
	do(http.MethodPost, "/v1/metric", map[string]any{"archive_policy_name": "p"}, &metric)
	post := func(second int) {
		t.Helper()
		do(http.MethodPost, fmt.Sprintf("/v1/metric/%s/measures", metric.ID), []map[string]any{{"timestamp": 1_700_000_000 + second, "value": 1}}, nil)
	}
	rows := func() (rows [][]any) {
		t.Helper()
		do(http.MethodGet, fmt.Sprintf("/v1/metric/%s/measures?refresh=true&aggregation=count", metric.ID), nil, &rows)
		return rows
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
	post(0)
	rows()
	do(http.MethodGet, "/v1/status", nil, &before)

	disk.sync.Store(int64(2 * ttl))
	began := time.Now()
	answered := make(chan error, 1)
	go func() {
		answered <- c.Do(t.Context(), http.MethodPost, fmt.Sprintf("/v1/metric/%s/measures", metric.ID), []map[string]any{{"timestamp": 1_700_000_001, "value": 1}}, nil)
	}()
	for time.Since(began) < 2*ttl {
		if n := len(rows()); n < 1 {
			t.Errorf("%d aggregates while the disk is slow", n)
		}
		time.Sleep(100 * time.Millisecond)
	}
	if err := <-answered; err != nil {
		t.Error(err)
	}
	disk.sync.Store(0)
	post(2)
	for _, s := range servers {
		select {
		case err := <-s.Failed():
			t.Errorf("a process ended: %v", err)
		default:
		}
	}
	do(http.MethodGet, "/v1/status", nil, &after)
	if len(before.Cluster.Claims) != 4+2 || !reflect.DeepEqual(before, after) {
		t.Errorf("members and claims were %+v, are %+v", before, after)
	}
	for i, row := range rows() {
		if row[2] != 1.0 || i > 2 {
			t.Errorf("row %d: %v", i, row)
		}
	}
	if n := len(rows()); n != 3 {
		t.Errorf("%d of 3 measures", n)
	}
	for _, s := range servers {
		stop(t, s)
	}
}

func data(t *testing.T) string { return filepath.Join(t.TempDir(), "data") }
