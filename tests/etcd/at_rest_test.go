package etcd_test

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/cluster"
)

var restProcesses = flag.Int("rest.processes", 4, "processes of TestDiskAtRestByEtcd at most: 2, 8, 16, 32")

// counted counts what a network file system would be asked for: names, and files that are opened.
type counted struct {
	vfs.FS
	operations atomic.Int64
}

// Unwrap hides that this is the machine's own disk.
func (c *counted) Unwrap() vfs.FS { return nil }

func (c *counted) List(dir string) ([]string, error) {
	c.operations.Add(1)
	return c.FS.List(dir)
}

func (c *counted) Stat(name string) (vfs.FileInfo, error) {
	c.operations.Add(1)
	return c.FS.Stat(name)
}

func (c *counted) Open(name string, options ...vfs.OpenOption) (vfs.File, error) {
	c.operations.Add(1)
	return c.FS.Open(name, options...)
}

func (c *counted) OpenDir(name string) (vfs.File, error) {
	c.operations.Add(1)
	return c.FS.OpenDir(name)
}

func (c *counted) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	c.operations.Add(1)
	return c.FS.Create(name, category)
}

func (c *counted) Rename(from, to string) error {
	c.operations.Add(1)
	return c.FS.Rename(from, to)
}

func (c *counted) Remove(name string) error {
	c.operations.Add(1)
	return c.FS.Remove(name)
}

// At rest a process asks the shared disk no more than four times a second where etcd decides as well, however many
// processes there are.
func TestDiskAtRestByEtcd(t *testing.T) {
	access := "etcd://" + strings.Join(startTrio(t, nil).hosts(), ",")
	for _, processes := range []int{2, 4, 8, 16, 32} {
		if processes > *restProcesses {
			break
		}
		t.Run(fmt.Sprint(processes, " processes"), func(t *testing.T) {
			data := filepath.Join(t.TempDir(), "data")
			var disks []*counted
			for i := range processes {
				role := cluster.RoleMetricd
				if i%2 == 0 {
					role = cluster.RoleAPI
				}
				disk := &counted{FS: vfs.Default}
				p, err := cluster.Open(t.Context(), cluster.Options{Data: data, FS: disk, Role: role, Sacks: 16,
					Init: true, Node: fmt.Sprint("node", i), MinFreeBytes: 1, Coordination: access,
					Peers: cluster.Peers{Listen: "127.0.0.1:0"}})
				check(t, err)
				defer func() { check(t, p.Close(context.Background())) }()
				check(t, p.Run(t.Context(), cluster.Handlers{Failed: func(err error) { t.Error(err) }}))
				disks = append(disks, disk)
			}
			const rest = 20 * time.Second
			time.Sleep(45 * time.Second) // sacks have moved, and what came before is tidied
			for _, d := range disks {
				d.operations.Store(0)
			}
			time.Sleep(rest)
			for i, d := range disks {
				if rate := float64(d.operations.Load()) / rest.Seconds(); rate > 4 {
					t.Errorf("process %d asks the disk %.1f times a second", i, rate)
				} else {
					t.Logf("process %d: %.1f a second", i, rate)
				}
			}
		})
	}
}
