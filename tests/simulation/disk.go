package simulation

import (
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// disk is the shared file system as its server has it. A look-up sees names
// as they are, a listing may be a little old. The content of a file
// reaches the server, and with it other mounts, by a sync or by the kernel's own writing, up to a writeback later.
type disk struct {
	mu    sync.Mutex
	rand  *rand.Rand
	root  *inode
	locks map[*inode]*process

	syncTime   time.Duration // mean time of a sync
	opTime     time.Duration // mean time of another operation
	full       bool
	fullAtSync bool          // writes succeed, and syncs say that there is no room
	late       time.Duration // for so long a listing may be old
	keeps      time.Duration // for so long the server keeps the capabilities of a dead client; 0: it has none
	frozen     int           // one in so many overwritten contents stays as it was in another mount's cache; 0: none
}

// writeback is how long a kernel keeps what no sync has asked for.
const writeback = 30 * time.Second

const pageSize = 4 << 10

// inode is a file or a folder.
type inode struct {
	entries map[string]*inode // nil: a file
	durable map[string]*inode // entries that a crash of the server leaves
	links   int

	data   []byte   // as the writer's machine sees it
	server []byte   // as others do
	writer *machine // whose kernel has what the server lacks; nil: none

	clients     map[*caller]bool // that have listed the folder, of a server with capabilities
	waiting     int              // changes of the folder that wait for a dead client
	low, high   int              // of data, that the server lacks
	shared      bool             // somebody keeps a reference to server
	overwritten bool             // server has changed other than by appending
}

func newDisk(seed uint64) *disk {
	return &disk{rand: rand.New(rand.NewPCG(seed, 2)), root: newFolder(), locks: make(map[*inode]*process),
		syncTime: 2 * time.Millisecond}
}

func newFolder() *inode {
	return &inode{entries: make(map[string]*inode), durable: make(map[string]*inode), links: 1}
}

// around returns a random time of a mean.
func (d *disk) around(mean time.Duration) time.Duration {
	if mean == 0 {
		return 0
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return mean/2 + time.Duration(d.rand.Int64N(int64(mean)))
}

// atOnce has something done at one moment.
func (d *disk) atOnce(do func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return do()
}

// find returns what a path leads to. mu is held.
func (d *disk) find(name string) *inode {
	i := d.root
	for part := range strings.SplitSeq(name, "/") {
		if part == "" {
			continue
		}
		if i = i.entries[part]; i == nil {
			return nil
		}
	}
	return i
}

// enter gives an inode a name that is free. mu is held.
func (d *disk) enter(name string, i *inode) error {
	parent := d.find(path.Dir(name))
	if parent == nil {
		return fs.ErrNotExist
	}
	if parent.entries == nil {
		return syscall.ENOTDIR
	}
	if parent.entries[path.Base(name)] != nil {
		return fs.ErrExist
	}
	parent.entries[path.Base(name)] = i
	i.links++
	return nil
}

// leave removes a name. mu is held.
func (d *disk) leave(name string) {
	parent := d.find(path.Dir(name))
	parent.entries[path.Base(name)].links--
	delete(parent.entries, path.Base(name))
}

// view is what a machine sees of a file. mu is held.
func (i *inode) view(m *machine) []byte {
	if i.writer == m && m != nil {
		return i.data
	}
	return i.server
}

// write changes a file as a machine sees it. mu is held.
func (i *inode) write(m *machine, b []byte, offset int) {
	if i.writer != m {
		i.data, i.writer, i.low, i.high = slices.Clone(i.server), m, offset, offset
	}
	if i.low == i.high {
		i.low, i.high = offset, offset
	}
	if end := offset + len(b); end > len(i.data) {
		i.data = slices.Grow(i.data, end-len(i.data))
		i.low = min(i.low, len(i.data))
		i.data = i.data[:end]
	}
	copy(i.data[offset:], b)
	i.low, i.high = min(i.low, offset), max(i.high, offset+len(b))
}

// flush brings a range of data to the server. mu is held.
func (i *inode) flush(low, high int) {
	if low >= high {
		return
	}
	if low < len(i.server) {
		i.overwritten = true
		if i.shared {
			i.server, i.shared = slices.Clone(i.server), false
		}
	}
	if high > len(i.server) {
		i.server = append(i.server, make([]byte, high-len(i.server))...)
	}
	copy(i.server[low:high], i.data[low:high])
}

// sync brings all that a machine's kernel has of a file to the server. mu is held.
func (i *inode) sync(m *machine) {
	if i.writer == m {
		i.flush(i.low, min(i.high, len(i.data)))
		i.low, i.high = 0, 0
	}
}

// each calls f with all files and folders in the order of their paths. mu is held.
func (i *inode) each(name string, f func(name string, i *inode)) {
	f(name, i)
	for _, entry := range slices.Sorted(maps.Keys(i.entries)) {
		i.entries[entry].each(name+"/"+entry, f)
	}
}

// writeBack is a kernel that writes all that it has.
func (d *disk) writeBack(m *machine) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.root.each("", func(_ string, i *inode) { i.sync(m) })
}

// powerOff is the end of a machine. Some pages that no sync has brought to the server got there.
func (d *disk) powerOff(m *machine) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.root.each("", func(_ string, i *inode) {
		if i.entries != nil || i.writer != m {
			return
		}
		for low := i.low; low < i.high; {
			end := min((low/pageSize+1)*pageSize, i.high)
			if d.rand.IntN(2) == 0 {
				i.flush(low, end)
			}
			low = end
		}
		i.data, i.writer, i.low, i.high = nil, nil, 0, 0
	})
}

// powerCut is the end of the server and of every machine: names are as the last sync of their folders left them.
func (d *disk) powerCut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	var restore func(i *inode)
	restore = func(i *inode) {
		if i.entries == nil {
			return
		}
		i.entries = maps.Clone(i.durable)
		for _, name := range slices.Sorted(maps.Keys(i.entries)) {
			restore(i.entries[name])
		}
	}
	restore(d.root)
	links := make(map[*inode]int)
	d.root.each("", func(_ string, i *inode) { links[i]++ })
	for i, n := range links {
		i.links = n
	}
	d.locks = make(map[*inode]*process)
}

// unlock ends the locks of a process.
func (d *disk) unlock(p *process) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, holder := range d.locks {
		if holder == p {
			delete(d.locks, i)
		}
	}
}

// copyTo writes the disk to a folder.
func (d *disk) copyTo(folder string) (err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.root.each("", func(name string, i *inode) {
		target := filepath.Join(folder, name)
		if err != nil {
			return
		}
		if i.entries != nil {
			err = os.MkdirAll(target, 0o750)
		} else {
			err = os.WriteFile(target, i.server, 0o640)
		}
	})
	return err
}
