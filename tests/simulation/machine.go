package simulation

import (
	"errors"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"
)

// machine is a host with a mount of the disk and a clock.
type machine struct {
	w      *World
	name   string
	host   string // address
	folder string // where the disk is mounted

	mu     sync.Mutex
	rate   float64       // of its clock
	offset time.Duration // of its clock
	wall   time.Duration // by which its system time is wrong
	began  time.Time
	cut    chan struct{} // closed when the disk is reached again; nil: it is reached
	gone   bool          // the disk is not mounted
	seen   map[*inode][]byte
	old    map[*inode][]byte // what its cache goes on showing
	listed map[string]listing
	rand   *rand.Rand
	late   time.Duration // by which answers of the disk come after their effect, at most
	again  int           // one in so many changes of names is sent twice; 0: none
	broken int           // one in so many syncs fails; 0: none
	kernel *caller       // its session with the disk's server; the disk's lock is held
}

func newMachine(w *World, name, host string) *machine {
	m := &machine{w: w, name: name, host: host, folder: filepath.Join(w.folder, name), rate: 1, began: time.Now(),
		kernel: newCaller(), seen: make(map[*inode][]byte), old: make(map[*inode][]byte),
		listed: make(map[string]listing),
		rand:   rand.New(rand.NewPCG(w.options.Seed, uint64(host[len(host)-1])))}
	m.offset = time.Duration(1+m.rand.IntN(1000)) * time.Hour
	return m
}

// Now implements claim.Clock.
func (m *machine) Now() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.offset + time.Duration(float64(time.Since(m.began))*m.rate)
}

// setRate makes the clock run faster or slower from now on.
func (m *machine) setRate(rate float64) {
	now := m.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.offset, m.began, m.rate = now, time.Now(), rate
}

// oneIn reports whether something that happens once in n times happens now. mu is held.
func (m *machine) oneIn(n int) bool { return n > 0 && m.rand.IntN(n) == 0 }

// lateAnswer is how long an answer of the disk takes after its effect.
func (m *machine) lateAnswer() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.late == 0 || !m.oneIn(4) {
		return 0
	}
	return time.Duration(m.rand.Int64N(int64(m.late)))
}

// repeats reports whether the answer to a change of names was lost.
func (m *machine) repeats() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.oneIn(m.again)
}

// syncFails returns the error of a sync. The disk's lock is held.
func (m *machine) syncFails(d *disk) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case d.fullAtSync:
		return syscall.ENOSPC
	case m.oneIn(m.broken):
		return syscall.EIO
	}
	return nil
}

// setFaults sets what the machine's kernel does wrong.
func (m *machine) setFaults(late time.Duration, again, broken int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.late, m.again, m.broken = late, again, broken
}

// jump sets the clock forward, as a machine that was moved to another host may find it. It never goes back.
func (m *machine) jump(by time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.offset += by
}

// reach returns when the disk answers.
func (m *machine) reach() error {
	for {
		m.mu.Lock()
		cut, gone := m.cut, m.gone
		m.mu.Unlock()
		if gone {
			return syscall.ESTALE
		}
		if cut == nil {
			return nil
		}
		<-cut
	}
}

// setCut cuts the machine off from the disk, or connects it again.
func (m *machine) setCut(cut bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if cut && m.cut == nil {
		m.cut = make(chan struct{})
	} else if !cut && m.cut != nil {
		close(m.cut)
		m.cut = nil
	}
}

// setMounted mounts the disk, or unmounts it lazily.
func (m *machine) setMounted(mounted bool) error {
	m.mu.Lock()
	m.gone = !mounted
	m.mu.Unlock()
	target := filepath.Join(m.w.folder, "shared")
	if !mounted {
		target = filepath.Join(m.w.folder, "below")
		if err := os.MkdirAll(target, 0o750); err != nil {
			return err
		}
	}
	fresh := m.folder + ".new"
	return errors.Join(os.Symlink(target, fresh), os.Rename(fresh, m.folder))
}

// cached returns what the machine's page cache goes on showing of a file that was overwritten; nil: nothing.
func (m *machine) cached(d *disk, i *inode) []byte {
	if d.frozen == 0 {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	if i.entries != nil || i.writer == m {
		return nil
	}
	if old, ok := m.old[i]; ok {
		return old
	}
	if seen, ok := m.seen[i]; ok && i.overwritten && m.rand.IntN(d.frozen) == 0 {
		m.old[i] = seen
		return seen
	}
	m.seen[i], i.shared = i.server, true
	return nil
}

// listing is a folder's names as a machine saw them.
type listing struct {
	names []string
	at    time.Time
}

// list returns the names in a folder, as the attribute cache of NFS has them: the last listing serves until it is older
// than late, or this machine changes the folder.
func (m *machine) list(dir string, late time.Duration, names func() ([]string, error)) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known, ok := m.listed[dir]; ok && time.Since(known.at) < late {
		return slices.Clone(known.names), nil
	}
	fresh, err := names()
	if err != nil {
		return nil, err
	}
	m.listed[dir] = listing{fresh, time.Now()}
	return slices.Clone(fresh), nil
}

// changed forgets the names in the folder of a path.
func (m *machine) changed(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.listed, path.Dir(name))
}
