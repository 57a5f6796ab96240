package cluster_test

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/tests/cutest"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// countingFS counts the operations that name something on a disk, as one of several machines.
type countingFS struct {
	vfs.FS
	mu    sync.Mutex
	kinds map[string]int // since the last call of counted, by kind and folder
}

func counting() *countingFS {
	return &countingFS{FS: vfs.Default, kinds: map[string]int{}}
}

// Unwrap hides that this is the machine's own disk.
func (c *countingFS) Unwrap() vfs.FS { return nil }

func (c *countingFS) count(what, path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	dir := filepath.Dir(path)
	c.kinds[what+" "+filepath.Join(filepath.Base(filepath.Dir(dir)), filepath.Base(dir))]++
}

// counted returns the operations since the last call: their number, and counts by kind and folder.
func (c *countingFS) counted() (operations int, kinds map[string]int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kinds, c.kinds = c.kinds, map[string]int{}
	for _, n := range kinds {
		operations += n
	}
	return operations, kinds
}

func (c *countingFS) List(dir string) ([]string, error) {
	c.count("list", dir)
	return c.FS.List(dir)
}

func (c *countingFS) Stat(name string) (vfs.FileInfo, error) {
	c.count("stat", name)
	return c.FS.Stat(name)
}

func (c *countingFS) Open(name string, options ...vfs.OpenOption) (vfs.File, error) {
	c.count("open", name)
	return c.FS.Open(name, options...)
}

func (c *countingFS) OpenDir(name string) (vfs.File, error) {
	c.count("sync", name)
	return c.FS.OpenDir(name)
}

func (c *countingFS) OpenReadWrite(name string, category vfs.DiskWriteCategory, options ...vfs.OpenOption) (
	vfs.File, error) {
	c.count("write", name)
	return c.FS.OpenReadWrite(name, category, options...)
}

func (c *countingFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	c.count("create", name)
	return c.FS.Create(name, category)
}

func (c *countingFS) Rename(from, to string) error {
	c.count("rename", to)
	return c.FS.Rename(from, to)
}

func (c *countingFS) Link(from, to string) error {
	c.count("link", to)
	return c.FS.Link(from, to)
}

func (c *countingFS) Remove(name string) error {
	c.count("remove", name)
	return c.FS.Remove(name)
}

func (c *countingFS) MkdirAll(dir string, perm os.FileMode) error {
	c.count("mkdir", dir)
	return c.FS.MkdirAll(dir, perm)
}

// pipes are a network within the test.
type pipes struct {
	mu        sync.Mutex
	listeners map[string]*pipeListener
}

type pipeListener struct {
	network     *pipes
	address     net.TCPAddr
	connections chan net.Conn
	closed      chan struct{}
	once        sync.Once
}

func (p *pipes) listen(string, string) (net.Listener, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := &pipeListener{network: p, connections: make(chan net.Conn), closed: make(chan struct{}),
		address: net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1 + len(p.listeners)}}
	p.listeners[l.address.String()] = l
	return l, nil
}

func (p *pipes) dial(ctx context.Context, _, address string) (net.Conn, error) {
	p.mu.Lock()
	l := p.listeners[address]
	p.mu.Unlock()
	if l == nil {
		return nil, fmt.Errorf("nobody listens at %s", address)
	}
	here, there := net.Pipe()
	select {
	case l.connections <- there:
		return here, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.connections:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Addr() net.Addr { return &l.address }

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// bubbleClock is the time of a synctest bubble.
type bubbleClock struct{ begun time.Time }

func (c bubbleClock) Now() time.Duration { return time.Since(c.begun) + time.Hour }

var mostAtRest = flag.Int("rest.processes", 8, "processes of TestDiskAtRest at most: 32 take minutes")

// At rest a process asks the disk that several machines share no more than four times a second, however many processes
// and sacks there are.
func TestDiskAtRest(t *testing.T) {
	for _, processes := range []int{2, 4, 8, 16, 32} {
		for _, sacks := range []int{8, 64} {
			// The race detector needs some of each role, as the work grows with the square of their number.
			if processes > *mostAtRest || testing.Short() && processes*sacks > 128 || cutest.Race && processes > 4 {
				continue
			}
			t.Run(fmt.Sprint(processes, " processes, ", sacks, " sacks"), func(t *testing.T) {
				data := filepath.Join(t.TempDir(), "data")
				synctest.Test(t, func(t *testing.T) { atRest(t, data, processes, sacks) })
			})
		}
	}
}

func atRest(t *testing.T, data string, processes, sacks int) {
	network := &pipes{listeners: make(map[string]*pipeListener)}
	clock := bubbleClock{time.Now()}
	var members []*cluster.Process
	var disks []*countingFS
	for i := range processes {
		role := cluster.RoleMetricd
		if i%2 == 0 {
			role = cluster.RoleAPI
		}
		disk := counting()
		p, err := cluster.Open(t.Context(), cluster.Options{Data: data, FS: disk, Role: role, Sacks: sacks, Init: true,
			Node: fmt.Sprint("node", i), MinFreeBytes: 1,
			Machine: cluster.Machine{Listen: network.listen, Dial: network.dial, Clock: clock}})
		fatal.If(t, err)
		defer func() { fatal.If(t, p.Close(context.Background())) }()
		fatal.If(t, p.Run(t.Context(), cluster.Handlers{Failed: func(err error) { t.Error(err) }}))
		members, disks = append(members, p), append(disks, disk)
	}
	time.Sleep(2 * time.Minute) // sacks have moved, and what came before is tidied
	if missing := members[0].Missing(); len(missing) != 0 {
		t.Fatalf("nobody holds %v", missing)
	}
	const rest = 4 * time.Minute
	for _, d := range disks {
		d.counted()
	}
	time.Sleep(rest)
	// Beside these are the looks at cluster.json, one a beat, and at the reserve file.
	const others = 0.4 + 0.1
	for i, d := range disks {
		operations, kinds := d.counted()
		if rate := float64(operations)/rest.Seconds() + others; rate > 4 {
			t.Errorf("process %d asks the disk %.1f times a second: %v", i, rate, kinds)
		} else {
			t.Logf("process %d: %.1f a second: %v", i, rate, kinds)
		}
	}
}
