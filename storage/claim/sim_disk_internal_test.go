package claim

import (
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// disk is the shared folder of a simulation. Each operation on it happens at exactly one moment; mounts make trouble.
type disk struct {
	w       *world
	root    *inode
	entries map[string]*inode
	cuts    int // of the power
}

// inode is a file or a folder, with its past, which caches may still show.
type inode struct {
	dir   bool
	links uint16
	past  []version // ascending; the last is how it is
	// overwritten is for a file whose bytes were changed in place. A cache may permanently show old bytes of such a
	// file, as that of ceph-fuse does; names it always shows within maxStale.
	overwritten bool
	// The end of the power leaves a folder the names of its last sync, and a file the content.
	durable map[string]*inode
	kept    string
	// holders are the kernels that have a folder's names in their caches, and waiting the changes that wait for one.
	holders map[*kernel]bool
	waiting int
}

// kernel is a machine's session with the server, until the machine ends.
type kernel struct {
	dead  bool
	until time.Duration // when the server gives a dead one up, as it waits for an answer; 0: it does not yet
}

// patience is how long the server waits for the answer of a dead kernel.
const patience = 15 * time.Second

type version struct {
	at      time.Duration
	content string   // of a file
	names   []string // of a folder
}

func newDisk(w *world) *disk {
	root := &inode{dir: true, links: 1, past: []version{{}}}
	return &disk{w: w, root: root, entries: map[string]*inode{"/": root}}
}

func (i *inode) last() *version { return &i.past[len(i.past)-1] }

// as returns how the inode was at a time, or when it began.
func (i *inode) as(of time.Duration) *version {
	for k := len(i.past) - 1; k > 0; k-- {
		if i.past[k].at <= of {
			return &i.past[k]
		}
	}
	return &i.past[0]
}

// maxStale is for how long caches hide changes at most; members' slack is more.
const maxStale = 3 * time.Second

func (d *disk) change(i *inode, v version) {
	v.at = d.w.now
	for len(i.past) > 1 && i.past[1].at < d.w.now-2*maxStale {
		i.past = i.past[1:]
	}
	i.past = append(i.past, v)
}

func (d *disk) enter(name string, i *inode) error {
	parent := d.entries[path.Dir(name)]
	if parent == nil {
		return iofs.ErrNotExist
	}
	if d.entries[name] != nil {
		return iofs.ErrExist
	}
	d.entries[name] = i
	i.links++
	d.change(parent, version{names: append(slices.Clone(parent.last().names), path.Base(name))})
	return nil
}

func (d *disk) leave(name string) error {
	i := d.entries[name]
	if i == nil {
		return iofs.ErrNotExist
	}
	i.links--
	delete(d.entries, name)
	parent := d.entries[path.Dir(name)]
	d.change(parent, version{names: slices.DeleteFunc(slices.Clone(parent.last().names), func(n string) bool {
		return n == path.Base(name)
	})})
	return nil
}

func (d *disk) below(name string) []string {
	var names []string
	for entry := range d.entries {
		if strings.HasPrefix(entry, name+"/") {
			names = append(names, entry)
		}
	}
	slices.Sort(names)
	return names
}

func (d *disk) rename(from, to string) error {
	i := d.entries[from]
	if i == nil {
		return iofs.ErrNotExist
	}
	if other := d.entries[to]; other != nil {
		if other.dir && len(other.last().names) > 0 {
			return syscall.ENOTEMPTY
		}
		if err := d.leave(to); err != nil {
			return err
		}
	}
	if d.entries[path.Dir(to)] == nil {
		return iofs.ErrNotExist
	}
	moved := d.below(from)
	if err := d.leave(from); err != nil {
		return err
	}
	if err := d.enter(to, i); err != nil {
		return err
	}
	for _, entry := range moved {
		d.entries[to+strings.TrimPrefix(entry, from)] = d.entries[entry]
		delete(d.entries, entry)
	}
	return nil
}

// sync makes a file durable, or the names in a folder.
func (d *disk) sync(name string, i *inode) {
	if !i.dir {
		i.kept = i.last().content
		return
	}
	if folder := d.entries[name]; folder != nil {
		folder.durable = make(map[string]*inode)
		for _, entry := range folder.last().names {
			folder.durable[entry] = d.entries[path.Join(name, entry)]
		}
	}
}

// powerCut ends the server. Changes that were not synced are gone.
func (d *disk) powerCut() {
	d.cuts++
	d.entries = make(map[string]*inode)
	links := make(map[*inode]uint16)
	var restore func(name string, i *inode)
	restore = func(name string, i *inode) {
		d.entries[name] = i
		links[i]++
		left := version{at: d.w.now, content: i.kept, names: slices.Sorted(maps.Keys(i.durable))}
		i.past, i.links = []version{left}, links[i]
		for _, entry := range left.names {
			restore(path.Join(name, entry), i.durable[entry])
		}
	}
	restore("/", d.root)
}

// syncNames makes the names in a store's folder durable, in worlds whose power ends.
func syncNames(fs vfs.FS, dir string) error {
	for at := fs; at != nil; at = at.Unwrap() {
		if m, ok := at.(*mount); !ok || !m.d.w.power {
			continue
		}
		file, err := fs.OpenDir(dir)
		if err != nil {
			return err
		}
		return file.Sync()
	}
	return nil
}

// mount is a process's way to the disk.
type mount struct {
	p *process
	d *disk
}

var errIO = errors.New("simulation: the disk did not answer")

// call has something done on the disk, some time between now and its return; or later, if it returns an error.
func (m *mount) call(do func() error) error {
	w, t := m.d.w, m.p.w.current
	if m.p.dead || t.stopped {
		return errKilled
	}
	lands := w.now + w.slow*w.between(200*time.Microsecond, 4*time.Millisecond)
	if !w.calm && !w.crashes && w.chance(300) { // it is lost in the network for a while
		lands += w.between(10*time.Millisecond, 25*time.Second)
	}
	lands = max(lands, m.p.node.cut)
	var result error
	back := w.between(100*time.Microsecond, 2*time.Millisecond)
	if w.late && !w.calm && w.chance(2000) {
		back += w.between(0, 20*time.Second)
	}
	answered := false
	answer := func(err error) {
		if !answered {
			answered, result = true, err
			w.after(back, t.wake)
		}
	}
	if wait := lands - w.now; wait > time.Second && w.chance(2) { // given up, but not taken back
		w.after(w.between(time.Second, wait+time.Second), func() { answer(errIO) })
	}
	cuts := m.d.cuts
	w.at(lands, func() {
		if cuts == m.d.cuts {
			answer(do())
		}
	})
	if err := t.wait(); err != nil {
		return err
	}
	return result
}

// change is call for changes of the folders of names. The server lets none change while a dead kernel has it cached.
func (m *mount) change(do func() error, names ...string) error {
	for _, name := range names {
		if !m.await(path.Dir(name), true) {
			return errKilled
		}
	}
	return m.call(do)
}

// await waits until the server lets this machine list a folder, which waits behind changes, or change it.
func (m *mount) await(dir string, change bool) bool {
	for m.d.w.crashes {
		i, until := m.d.entries[dir], time.Duration(0)
		if i == nil || !change && i.waiting == 0 {
			return true
		}
		for k := range i.holders {
			if k.dead && k.until == 0 {
				k.until = m.d.w.now + patience
			}
			until = max(until, k.until)
		}
		if until <= m.d.w.now {
			if change { // the others give their capabilities back
				i.holders = nil
			}
			return true
		}
		i.waiting++
		goesOn := m.p.sleep(until - m.d.w.now)
		if i.waiting--; !goesOn {
			return false
		}
	}
	return true
}

// caches notes that this machine knows a folder's names.
func (m *mount) caches(i *inode) {
	if m.d.w.crashes {
		if i.holders == nil {
			i.holders = make(map[*kernel]bool)
		}
		i.holders[m.p.node.kernel] = true
	}
}

// version returns how this mount sees an inode: perhaps as it was, but never older than it saw it before.
func (m *mount) version(i *inode) *version {
	w := m.d.w
	of := w.now
	if !w.hides && w.chance(2) {
		of -= w.between(0, maxStale)
	}
	of = max(of, m.p.node.seen[i])
	m.p.node.seen[i] = of
	return i.as(of)
}

// own notes that this mount changed what the name leads to, so that it sees it so.
func (m *mount) own(names ...string) {
	for _, name := range names {
		if i := m.d.entries[name]; i != nil {
			m.p.node.seen[i] = m.d.w.now
			m.caches(i)
		}
	}
}

func (m *mount) Create(name string, _ vfs.DiskWriteCategory) (vfs.File, error) {
	i := &inode{past: []version{{at: m.d.w.now}}}
	if !m.hang(name) {
		return nil, errKilled
	}
	err := m.change(func() error {
		if m.d.entries[name] != nil {
			if err := m.d.leave(name); err != nil {
				return err
			}
		}
		err := m.d.enter(name, i)
		m.own(name, path.Dir(name))
		return err
	}, name)
	if err != nil {
		return nil, err
	}
	return &simFile{m: m, inode: i}, nil
}

// hang waits in worlds in which claims take long.
func (m *mount) hang(name string) bool {
	w := m.d.w
	return !w.hangs || w.calm || !strings.HasPrefix(name, simRoot+"/claims/") || !w.chance(5) ||
		m.p.sleep(min(w.between(0, 100*time.Second), w.trouble-w.now))
}

func (m *mount) Link(oldname, newname string) error {
	if !m.hang(newname) {
		return errKilled
	}
	return m.change(func() error {
		i := m.d.entries[oldname]
		if i == nil {
			return iofs.ErrNotExist
		}
		err := m.d.enter(newname, i)
		m.own(path.Dir(newname))
		return err
	}, newname)
}

func (m *mount) open(name string) (vfs.File, error) {
	var i *inode
	err := m.call(func() error {
		if i = m.d.entries[name]; i == nil {
			return iofs.ErrNotExist
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &simFile{m: m, inode: i}, nil
}

func (m *mount) Open(name string, _ ...vfs.OpenOption) (vfs.File, error) {
	file, err := m.open(name)
	if err == nil {
		f := file.(*simFile)
		f.view = m.content(f.inode)
	}
	return file, err
}

// content returns what this mount shows of a file: once in four what it first showed of one that is changed in place.
func (m *mount) content(i *inode) *version {
	cached := m.p.node.cached
	if i.overwritten && cached[i] != nil && m.d.w.chance(4) {
		m.p.node.frozen[i] = true
	}
	if !m.p.node.frozen[i] {
		v := *m.version(i)
		cached[i] = &v
	}
	return cached[i]
}

func (m *mount) OpenReadWrite(name string, category vfs.DiskWriteCategory, _ ...vfs.OpenOption) (vfs.File, error) {
	file, err := m.open(name)
	if notThere(err) {
		return m.Create(name, category)
	}
	return file, err
}

func (m *mount) OpenDir(name string) (vfs.File, error) {
	return &simFile{m: m, name: name, inode: &inode{dir: true, past: []version{{}}}}, nil
}

func (m *mount) Remove(name string) error {
	return m.change(func() error {
		if i := m.d.entries[name]; i != nil && i.dir && len(i.last().names) > 0 {
			return syscall.ENOTEMPTY
		}
		err := m.d.leave(name)
		m.own(path.Dir(name))
		return err
	}, name)
}

func (m *mount) RemoveAll(name string) error {
	return m.change(func() error {
		below := m.d.below(name)
		slices.Reverse(below)
		for _, entry := range below {
			if err := m.d.leave(entry); err != nil {
				return err
			}
		}
		if m.d.entries[name] == nil {
			return nil
		}
		err := m.d.leave(name)
		m.own(path.Dir(name))
		return err
	}, append(m.d.below(name), name)...)
}

func (m *mount) Rename(oldname, newname string) error {
	hangs, lands := m.p.node.hang-m.d.w.now, m.p.node.lands-m.d.w.now
	if m.d.w.calm || path.Base(path.Dir(newname)) != beatsFolder {
		hangs, lands = 0, 0
	}
	if wait := max(lands, hangs); (lands > 0 || hangs > lateAnswer) && !m.p.sleep(wait) {
		return errKilled
	}
	err := m.change(func() error {
		err := m.d.rename(oldname, newname)
		m.own(newname, path.Dir(oldname), path.Dir(newname))
		return err
	}, oldname, newname)
	if hangs > 0 && hangs <= lateAnswer && !m.p.sleep(hangs) {
		return errKilled
	}
	return err
}

// lateAnswer is how late an answer of a beat comes at most. Later ones have not got through.
const lateAnswer = 10 * time.Second

func (m *mount) ReuseForWrite(string, string, vfs.DiskWriteCategory) (vfs.File, error) {
	return nil, errors.ErrUnsupported
}

func (m *mount) MkdirAll(dir string, _ os.FileMode) error {
	there := dir
	for m.d.entries[path.Dir(there)] == nil {
		there = path.Dir(there)
	}
	return m.change(func() error {
		var missing []string
		for name := dir; m.d.entries[name] == nil; name = path.Dir(name) {
			missing = append(missing, name)
		}
		slices.Reverse(missing)
		for _, name := range missing {
			if err := m.d.enter(name, &inode{dir: true, past: []version{{at: m.d.w.now}}}); err != nil {
				return err
			}
			m.own(name, path.Dir(name))
		}
		return nil
	}, there)
}

func (m *mount) Lock(string) (io.Closer, error) { return nil, errors.ErrUnsupported }

func (m *mount) List(dir string) (names []string, err error) {
	w := m.d.w
	behind := m.p.node.behind[dir] - w.now
	if strings.HasPrefix(dir, simRoot+"/claims/") {
		behind = max(behind, m.p.node.looks-w.now)
	}
	if !w.calm && behind > 0 && !m.p.sleep(behind) || !m.await(dir, false) {
		return nil, errKilled
	}
	err = m.call(func() error {
		i := m.d.entries[dir]
		if i == nil || !i.dir {
			return iofs.ErrNotExist
		}
		m.caches(i)
		if names = m.hide(dir, m.version(i).names); w.torn {
			names = m.tear(i, names)
		}
		return nil
	})
	if w.late && !w.calm && path.Base(dir) == beatsFolder && w.chance(25) {
		if !m.p.sleep(w.between(0, 25*time.Second)) {
			return nil, errKilled
		}
	}
	return names, err
}

// tear shows some of the names that have come since a listing, and leaves some out that have gone. A machine
// that has seen such a change sees it from then on.
func (m *mount) tear(i *inode, names []string) (torn []string) {
	now, news := i.last().names, m.p.node.news[i]
	if news == nil {
		news = make(map[string]bool)
		m.p.node.news[i] = news
	}
	shows := func(name string) bool {
		news[name] = news[name] || m.d.w.chance(2)
		return news[name]
	}
	for _, name := range names {
		if slices.Contains(now, name) || !shows(name) {
			torn = append(torn, name)
		}
	}
	for _, name := range now {
		if !slices.Contains(names, name) && shows(name) {
			torn = append(torn, name)
		}
	}
	return torn
}

// hide returns what a cache shows of a folder: in worlds that hide heartbeats now and then what it showed before.
func (m *mount) hide(dir string, names []string) []string {
	w, hidden := m.d.w, m.p.node.hidden
	if !w.hides || path.Base(dir) != beatsFolder {
		return names
	}
	if h := hidden[dir]; h != nil && w.now < h.until {
		return h.names
	}
	if !w.calm && w.chance(20) {
		hidden[dir] = &hiding{names, w.now + w.between(time.Second, 90*time.Second)}
	}
	return names
}

func (m *mount) Stat(name string) (info vfs.FileInfo, err error) {
	err = m.call(func() error {
		i := m.d.entries[name]
		if i == nil {
			return iofs.ErrNotExist
		}
		info = simInfo{name: name, size: int64(len(m.version(i).content)), links: i.links, dir: i.dir}
		return nil
	})
	return info, err
}

func (m *mount) PathBase(name string) string    { return path.Base(name) }
func (m *mount) PathJoin(elem ...string) string { return path.Join(elem...) }
func (m *mount) PathDir(name string) string     { return path.Dir(name) }
func (m *mount) Unwrap() vfs.FS                 { return nil }
func (m *mount) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{}, errors.ErrUnsupported
}

type simInfo struct {
	name  string
	size  int64
	links uint16
	dir   bool
}

func (i simInfo) Name() string       { return path.Base(i.name) }
func (i simInfo) Size() int64        { return i.size }
func (i simInfo) Mode() os.FileMode  { return 0 }
func (i simInfo) ModTime() time.Time { return time.Time{} }
func (i simInfo) IsDir() bool        { return i.dir }
func (i simInfo) Sys() any {
	var stat syscall.Stat_t
	setLinks(&stat.Nlink, uint64(i.links))
	return &stat
}

// setLinks sets a number whose type depends on the processor.
func setLinks[T uint32 | uint64](to *T, links uint64) { *to = T(links) }

func (i simInfo) DeviceID() vfs.DeviceID { return vfs.DeviceID{} }

// simFile reads what the mount saw when it was opened, and writes through. A sync is an operation like others: the
// moment of its return counts.
type simFile struct {
	m      *mount
	name   string // of a folder
	inode  *inode
	view   *version // for one opened to read
	offset int
}

func (f *simFile) content() string {
	if f.view != nil {
		return f.view.content
	}
	return f.inode.last().content
}

func (f *simFile) Close() error { return nil }

func (f *simFile) Read(p []byte) (int, error) {
	n, err := f.ReadAt(p, int64(f.offset))
	f.offset += n
	return n, err
}

func (f *simFile) ReadAt(p []byte, offset int64) (int, error) {
	content := f.content()
	if int(offset) >= len(content) {
		return 0, io.EOF
	}
	return copy(p, content[offset:]), nil
}

func (f *simFile) Write(p []byte) (int, error) {
	offset := f.offset
	f.offset += len(p)
	return f.WriteAt(p, int64(offset))
}

func (f *simFile) WriteAt(p []byte, offset int64) (int, error) {
	data := string(p)
	err := f.m.call(func() error {
		old := f.inode.last().content
		if int(offset) > len(old) {
			old += strings.Repeat("\x00", int(offset)-len(old))
		}
		f.inode.overwritten = f.inode.overwritten || int(offset) < len(old)
		tail := ""
		if end := int(offset) + len(data); end < len(old) {
			tail = old[end:]
		}
		f.m.d.change(f.inode, version{content: old[:offset] + data + tail})
		f.m.p.node.seen[f.inode] = f.m.d.w.now
		return nil
	})
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

func (f *simFile) Sync() error {
	return f.m.call(func() error { f.m.d.sync(f.name, f.inode); return nil })
}
func (f *simFile) SyncData() error                { return f.Sync() }
func (f *simFile) SyncTo(int64) (bool, error)     { return true, f.Sync() }
func (f *simFile) Preallocate(int64, int64) error { return nil }
func (f *simFile) Prefetch(int64, int64) error    { return nil }
func (f *simFile) Fd() uintptr                    { return vfs.InvalidFd }
func (f *simFile) Stat() (vfs.FileInfo, error) {
	return nil, fmt.Errorf("stat of an open file: %w", errors.ErrUnsupported)
}
