package simulation

import (
	"path"
	"time"
)

// caller is a kernel's session with the server, from one boot of its machine to the next. The server of CephFS keeps
// the capabilities of one that has died, until it gives it up: changes of a folder that the caller listed wait until
// then, and so do listings of a folder that such a change waits for.
type caller struct {
	gone chan struct{} // closed when the server has given it up
	dead bool
}

func newCaller() *caller { return &caller{gone: make(chan struct{})} }

// leaves is the end of a machine. Its next boot has another session.
func (d *disk) leaves(m *machine) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := m.kernel
	m.kernel, c.dead = newCaller(), true
	if d.keeps == 0 {
		return
	}
	time.AfterFunc(d.keeps, func() { close(c.gone) })
}

// forgetCallers is the restart of the server.
func (d *disk) forgetCallers() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.root.each("", func(_ string, i *inode) { clear(i.clients) })
}

// deadCaller returns one that a folder's changes wait for, nil if there is none. mu is held.
func (i *inode) deadCaller() *caller {
	for c := range i.clients {
		select {
		case <-c.gone:
			delete(i.clients, c)
		default:
			if c.dead {
				return c
			}
		}
	}
	return nil
}

// await waits until the server lets this machine list a folder, or change it.
func (m *mount) await(dir string, change bool) {
	m.d.mu.Lock()
	defer m.d.mu.Unlock()
	for {
		i := m.d.find(dir)
		for ; i == nil && dir != "."; dir = path.Dir(dir) { // missing parents are made as well
			i = m.d.find(path.Dir(dir))
		}
		if m.d.keeps == 0 || i == nil || !change && i.waiting == 0 {
			return
		}
		c := i.deadCaller()
		if c == nil {
			return
		}
		if change {
			i.waiting++
		}
		m.d.mu.Unlock()
		<-c.gone
		m.d.mu.Lock()
		if change {
			i.waiting--
		}
		m.d.mu.Unlock()
		m.p.step()
		m.d.mu.Lock()
	}
}

// change is call for operations that change the folders of names.
func (m *mount) change(do func() error, names ...string) error {
	m.p.step()
	for _, name := range names {
		m.await(path.Dir(m.path(name)), true)
	}
	err := m.call(do)
	if err == nil && m.p.machine.repeats() { // the answer was lost, and the request sent again
		err = m.call(do)
	}
	return err
}

// lists notes that this machine has listed a folder. mu is held.
func (m *mount) lists(i *inode) {
	if m.d.keeps == 0 {
		return
	}
	if i.clients == nil {
		i.clients = make(map[*caller]bool)
	}
	i.clients[m.p.machine.kernel] = true
}
