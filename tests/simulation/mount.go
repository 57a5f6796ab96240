package simulation

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// mount is a process's way to the disk, through the kernel of its machine.
type mount struct {
	p *process
	d *disk
}

// Exit ends the process whose store fails (storage/engine, as the tests edit it).
func (m *mount) Exit(status int) { m.p.exit(status) }

// call has something done on the disk at one moment, with the disk's lock held.
func (m *mount) call(do func() error) error {
	m.p.step()
	if err := m.p.machine.reach(); err != nil {
		return err
	}
	if wait := m.d.around(m.d.opTime); wait > 0 {
		time.Sleep(wait)
		m.p.step()
	}
	err := m.d.atOnce(do)
	if late := m.p.machine.lateAnswer(); late > 0 {
		time.Sleep(late)
		m.p.step()
	}
	return err
}

// path returns a name as the disk has it.
func (m *mount) path(name string) string { return strings.TrimPrefix(name, m.p.machine.folder) }

func (m *mount) Create(name string, _ vfs.DiskWriteCategory) (vfs.File, error) {
	i := new(inode)
	return m.file(i, false, m.change(func() error {
		if m.d.full {
			return syscall.ENOSPC
		}
		name := m.path(name)
		if old := m.d.find(name); old != nil {
			if old.entries != nil {
				return syscall.EISDIR
			}
			m.leave(name)
		}
		return m.enter(name, i)
	}, name))
}

func (m *mount) file(i *inode, reads bool, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	f := &file{m: m, inode: i}
	if reads {
		f.old = m.p.machine.cached(m.d, i)
	}
	return f, nil
}

func (m *mount) Open(name string, _ ...vfs.OpenOption) (vfs.File, error) {
	var i *inode
	err := m.call(func() error {
		if i = m.d.find(m.path(name)); i == nil {
			return &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		return nil
	})
	return m.file(i, true, err)
}

func (m *mount) OpenReadWrite(name string, c vfs.DiskWriteCategory, _ ...vfs.OpenOption) (vfs.File, error) {
	var i *inode
	err := m.call(func() error {
		if i = m.d.find(m.path(name)); i != nil {
			return nil
		}
		i = new(inode)
		return m.enter(m.path(name), i)
	})
	return m.file(i, false, err)
}

func (m *mount) OpenDir(name string) (vfs.File, error) { return m.Open(name) }

func (m *mount) Link(oldname, newname string) error {
	return m.change(func() error {
		i := m.d.find(m.path(oldname))
		if i == nil {
			return &fs.PathError{Op: "link", Path: oldname, Err: fs.ErrNotExist}
		}
		return m.enter(m.path(newname), i)
	}, newname)
}

func (m *mount) Remove(name string) error {
	return m.change(func() error {
		i := m.d.find(m.path(name))
		if i == nil {
			return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrNotExist}
		}
		if len(i.entries) > 0 {
			return syscall.ENOTEMPTY
		}
		m.leave(m.path(name))
		return nil
	}, name)
}

// RemoveAll is one operation for each name, as a process may die between them.
func (m *mount) RemoveAll(name string) error {
	var names []string
	err := m.call(func() error {
		i := m.d.find(m.path(name))
		if i == nil {
			return fs.ErrNotExist
		}
		names = slices.Sorted(maps.Keys(i.entries))
		return nil
	})
	for _, entry := range names {
		if err == nil {
			err = m.RemoveAll(path.Join(name, entry))
		}
	}
	if err == nil {
		err = m.Remove(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (m *mount) Rename(oldname, newname string) error {
	return m.change(func() error {
		from, to := m.path(oldname), m.path(newname)
		i := m.d.find(from)
		if i == nil {
			return &fs.PathError{Op: "rename", Path: oldname, Err: fs.ErrNotExist}
		}
		if m.d.find(path.Dir(to)) == nil {
			return &fs.PathError{Op: "rename", Path: newname, Err: fs.ErrNotExist}
		}
		if other := m.d.find(to); other == i {
			return nil
		} else if other != nil {
			switch {
			case len(other.entries) > 0:
				return syscall.ENOTEMPTY
			case other.entries != nil && i.entries == nil:
				return syscall.EISDIR
			}
			m.leave(to)
		}
		m.leave(from)
		return m.enter(to, i)
	}, oldname, newname)
}

func (m *mount) ReuseForWrite(oldname, newname string, _ vfs.DiskWriteCategory) (vfs.File, error) {
	if err := m.Rename(oldname, newname); err != nil {
		return nil, err
	}
	var i *inode
	err := m.call(func() error {
		if i = m.d.find(m.path(newname)); i == nil {
			return fs.ErrNotExist
		}
		return nil
	})
	return m.file(i, false, err)
}

func (m *mount) MkdirAll(dir string, _ os.FileMode) error {
	if _, err := m.Stat(dir); err == nil {
		return nil
	}
	return m.change(func() error {
		var missing []string
		for name := m.path(dir); m.d.find(name) == nil; name = path.Dir(name) {
			missing = append(missing, name)
		}
		for _, name := range slices.Backward(missing) {
			i := newFolder()
			i.links = 0
			if err := m.enter(name, i); err != nil {
				return err
			}
		}
		return nil
	}, dir)
}

// Lock keeps out other processes of all machines.
func (m *mount) Lock(name string) (io.Closer, error) {
	f, err := m.OpenReadWrite(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, err
	}
	l := &lock{m, f.(*file).inode}
	return l, m.call(func() error {
		if m.d.locks[l.inode] != nil {
			return syscall.EAGAIN
		}
		m.d.locks[l.inode] = m.p
		return nil
	})
}

type lock struct {
	m     *mount
	inode *inode
}

func (l *lock) Close() error {
	return l.m.call(func() error {
		if l.m.d.locks[l.inode] == l.m.p {
			delete(l.m.d.locks, l.inode)
		}
		return nil
	})
}

func (m *mount) List(dir string) (names []string, err error) {
	m.p.step()
	m.await(m.path(dir), false)
	err = m.call(func() error {
		names, err = m.p.machine.list(m.path(dir), m.d.late, func() ([]string, error) {
			i := m.d.find(m.path(dir))
			if i == nil || i.entries == nil {
				return nil, &fs.PathError{Op: "list", Path: dir, Err: fs.ErrNotExist}
			}
			m.lists(i)
			return slices.Sorted(maps.Keys(i.entries)), nil
		})
		return err
	})
	return names, err
}

// enter and leave change a name, and this machine sees it at once.
func (m *mount) enter(name string, i *inode) error {
	m.p.machine.changed(name)
	return m.d.enter(name, i)
}

func (m *mount) leave(name string) {
	m.p.machine.changed(name)
	m.d.leave(name)
}

func (m *mount) Stat(name string) (info vfs.FileInfo, err error) {
	err = m.call(func() error {
		i := m.d.find(m.path(name))
		if i == nil {
			return &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
		}
		info = infoOf(name, i, m.p.machine)
		return nil
	})
	return info, err
}

func (m *mount) PathBase(name string) string    { return path.Base(name) }
func (m *mount) PathJoin(elem ...string) string { return path.Join(elem...) }
func (m *mount) PathDir(name string) string     { return path.Dir(name) }
func (m *mount) Unwrap() vfs.FS                 { return nil }
func (m *mount) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{AvailBytes: 1 << 40, TotalBytes: 1 << 41, UsedBytes: 1 << 40}, nil
}

// info is what stat says.
type info struct {
	name  string
	size  int64
	links int
	dir   bool
}

func infoOf(name string, i *inode, m *machine) info {
	return info{name: path.Base(name), size: int64(len(i.view(m))), links: i.links, dir: i.entries != nil}
}

func (i info) Name() string { return i.name }
func (i info) Size() int64  { return i.size }
func (i info) Mode() os.FileMode {
	if i.dir {
		return os.ModeDir | 0o750
	}
	return 0o640
}
func (i info) ModTime() time.Time     { return time.Time{} }
func (i info) IsDir() bool            { return i.dir }
func (i info) DeviceID() vfs.DeviceID { return vfs.DeviceID{} }
func (i info) Sys() any {
	var stat syscall.Stat_t
	setLinks(&stat.Nlink, i.links)
	return &stat
}

// setLinks sets a number whose type depends on the processor.
func setLinks[T uint32 | uint64](to *T, links int) { *to = T(links) }

// file is an open file or folder.
type file struct {
	m      *mount
	inode  *inode
	old    []byte // what a cache shows for ever in place of the content; nil: nothing
	offset int64
}

func (f *file) Close() error { f.m.p.step(); return nil }

func (f *file) Read(p []byte) (int, error) {
	n, err := f.ReadAt(p, f.offset)
	f.offset += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}

func (f *file) ReadAt(p []byte, offset int64) (n int, err error) {
	err = f.m.call(func() error {
		if f.inode.links == 0 && f.inode.writer != f.m.p.machine && f.inode.writer != nil {
			return syscall.ESTALE // removed by another machine
		}
		content := f.old
		if content == nil {
			content = f.inode.view(f.m.p.machine)
		}
		if int(offset) < len(content) {
			n = copy(p, content[offset:])
		}
		if n < len(p) {
			return io.EOF
		}
		return nil
	})
	return n, err
}

func (f *file) Write(p []byte) (int, error) {
	n, err := f.WriteAt(p, f.offset)
	f.offset += int64(n)
	return n, err
}

func (f *file) WriteAt(p []byte, offset int64) (n int, err error) {
	err = f.m.call(func() error {
		if f.m.d.full {
			if n = len(p) / 2; n > 0 {
				f.inode.write(f.m.p.machine, p[:n], int(offset))
			}
			return syscall.ENOSPC
		}
		f.inode.write(f.m.p.machine, p, int(offset))
		n = len(p)
		return nil
	})
	return n, err
}

func (f *file) Sync() error {
	f.m.p.step()
	time.Sleep(f.m.d.around(f.m.d.syncTime))
	return f.m.call(func() error {
		if err := f.m.p.machine.syncFails(f.m.d); err != nil {
			// The kernel gives up what it could not write, and says so once: the next sync has nothing to do.
			f.inode.low, f.inode.high = 0, 0
			return err
		}
		if f.inode.entries != nil {
			f.inode.durable = maps.Clone(f.inode.entries)
			return nil
		}
		f.inode.sync(f.m.p.machine)
		return nil
	})
}

func (f *file) SyncData() error                { return f.Sync() }
func (f *file) SyncTo(int64) (bool, error)     { return true, f.Sync() }
func (f *file) Preallocate(int64, int64) error { return nil }
func (f *file) Prefetch(int64, int64) error    { return nil }
func (f *file) Fd() uintptr                    { return vfs.InvalidFd }

func (f *file) Stat() (stat vfs.FileInfo, err error) {
	err = f.m.call(func() error { stat = infoOf("", f.inode, f.m.p.machine); return nil })
	return stat, err
}
