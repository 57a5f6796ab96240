package claim

import (
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// cachingMount shows the first listing of a folder until this mount changes the folder, as a client of NFS does for the
// time of its attribute cache.
type cachingMount struct {
	vfs.FS
	listed map[string][]string
}

func (m *cachingMount) List(dir string) ([]string, error) {
	if names, ok := m.listed[dir]; ok {
		return slices.Clone(names), nil
	}
	names, err := m.FS.List(dir)
	m.listed[dir] = names
	return slices.Clone(names), err
}

func (m *cachingMount) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	delete(m.listed, m.PathDir(name))
	return m.FS.Create(name, category)
}

func (m *cachingMount) Rename(from, to string) error {
	delete(m.listed, m.PathDir(from))
	delete(m.listed, m.PathDir(to))
	return m.FS.Rename(from, to)
}

// A mount whose listing is old shows a member that has joined once Look was called.
func TestLookPassesCachedListing(t *testing.T) {
	disk, clock := vfs.NewMem(), new(setClock)
	join := func(node string) *session {
		mount := &cachingMount{disk, make(map[string][]string)}
		s, err := (&File{root: "data", options: defaultsOf(Options{FS: mount, Clock: clock})}).enter(Member{Node: node})
		fatal.If(t, err)
		t.Cleanup(func() { _ = s.exit() })
		return s
	}
	sees := func(s *session) bool {
		members, err := s.Members(t.Context())
		fatal.If(t, err)
		return len(members) == 2
	}
	a := join("a")
	join("b")
	clock.now += 100 * time.Millisecond
	if err := a.detector.look(0); err != nil || sees(a) {
		t.Fatalf("the listing is not old: %v", err)
	}
	if err := a.Look(t.Context()); err != nil || !sees(a) {
		t.Errorf("the other member is not seen after a look: %v", err)
	}
	if names, err := disk.List(a.detector.dir); err != nil || len(names) != 2 {
		t.Errorf("look left something: %v, %v", names, err)
	}
}

// twiceAtOnce is a disk on which a second look runs beside each one, and ends first.
type twiceAtOnce struct {
	vfs.FS
	within bool
}

func (d *twiceAtOnce) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := d.FS.Create(name, category)
	if err == nil && !d.within {
		d.within = true
		defer func() { d.within = false }()
		err = RefreshListing(d, d.PathDir(name), "a")
	}
	return file, err
}

// Looks of one process do not disturb one another: at its start one is for itself, and others tell that they have
// joined.
func TestLooksBesideOneAnother(t *testing.T) {
	disk := &twiceAtOnce{FS: vfs.NewMem()}
	fatal.If(t, disk.MkdirAll("data", 0o700))
	fatal.If(t, RefreshListing(disk, "data", "a"))
	if names, err := disk.List("data"); err != nil || len(names) != 0 {
		t.Errorf("looks left something: %v, %v", names, err)
	}
}

func defaultsOf(o Options) Options { o.EnsureDefaults(); return o }
