package simulation

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/server"
)

// slot is a place for one process after the other, as a supervisor has it.
type slot struct {
	w       *World
	name    string
	machine *machine
	role    cluster.Role
	listen  string
	peers   string

	mu      sync.Mutex
	process *process // nil: no process runs
	held    int      // by so many the supervisor is kept from starting one
	changed time.Time
	failing map[string]failures // by kind of request
}

// process is one that runs, or ran. Its goroutines end by never returning from the disk or the network.
type process struct {
	slot    *slot
	machine *machine

	mu      sync.Mutex
	dead    bool
	died    chan struct{}
	stopped chan struct{} // closed when it goes on; nil: it runs
	thaw    time.Duration // in which each thread goes on, after a stop
	left    int           // steps until it is killed; 0: it is not
	closing bool          // it was asked to end
	server  *server.Server
}

// step is a call to the kernel. It does not return to a dead process.
func (p *process) step() {
	for {
		p.mu.Lock()
		if p.left > 0 {
			if p.left--; p.left == 0 {
				p.mu.Unlock()
				p.slot.w.excuse(&fault{name: "kill"}, p.slot.name, 0) // which may be long after the fault began
				p.kill("at a step")
				continue
			}
		}
		dead, stopped, thaw := p.dead, p.stopped, p.thaw
		p.mu.Unlock()
		if dead {
			select {}
		}
		if stopped == nil {
			return
		}
		<-stopped
		d := p.slot.w.disk
		time.Sleep(d.around(time.Millisecond) + max(0, d.around(thaw)-thaw/2)) // its threads go on in any order
	}
}

// processClock is the machine's clock. A stopped process does not read it.
type processClock struct{ p *process }

func (c processClock) Now() time.Duration {
	c.p.step()
	return c.p.machine.Now()
}

// WallTime is the system time, by which the first process after a start of the machine sets its clock (build_test.go).
func (c processClock) WallTime() time.Time { return time.Now().Add(c.p.machine.wall) }

// kill ends the process. Its kernel has what it wrote, and tells the others.
func (p *process) kill(why string) { p.die(why, false) }

// end ends the process with its kernel.
func (p *process) end(why string) { p.die(why, true) }

func (p *process) die(why string, power bool) {
	p.mu.Lock()
	if p.dead {
		p.mu.Unlock()
		return
	}
	p.dead = true
	close(p.died)
	if p.stopped != nil {
		close(p.stopped)
		p.stopped = nil
	}
	p.mu.Unlock()
	w := p.slot.w
	w.log("killed", "process", p.slot.name, "why", why)
	if why != "stopped" {
		w.crashed(settled)
	}
	if !power {
		w.network.kill(p)
		time.AfterFunc(w.disk.around(writeback), func() { w.disk.writeBack(p.machine) })
	}
	w.network.unlisten(p)
	w.disk.unlock(p)
	p.slot.mu.Lock()
	if p.slot.process == p {
		p.slot.process = nil
	}
	p.slot.changed = time.Now()
	p.slot.mu.Unlock()
}

// stop stops the process as a signal does, or lets it go on.
func (p *process) stop(stop bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.dead:
	case stop && p.stopped == nil:
		p.stopped = make(chan struct{})
	case !stop && p.stopped != nil:
		close(p.stopped)
		p.stopped = nil
	}
}

// supervise keeps a process running.
func (s *slot) supervise() {
	for {
		s.mu.Lock()
		held := s.held > 0
		s.mu.Unlock()
		if held || s.w.powerless(s.machine) {
			time.Sleep(100 * time.Millisecond)
			continue
		}
		s.run()
		time.Sleep(time.Second)
	}
}

// run starts a process and returns when it has ended.
func (s *slot) run() {
	p, w := s.newProcess(), s.w
	started := make(chan error, 1)
	go func() {
		var err error
		p.server, err = server.Start(context.Background(), p.options())
		started <- err
	}()
	select {
	case <-p.died:
		return
	case err := <-started:
		if err != nil {
			w.log("not started", "process", s.name, "error", err)
			p.kill("not started")
			return
		}
	}
	w.log("started", "process", s.name)
	s.touch()
	select {
	case <-p.died:
	case err := <-p.server.Failed():
		w.log("failed", "process", s.name, "error", err)
		p.kill("failed")
	}
}

func (s *slot) newProcess() *process {
	p := &process{slot: s, machine: s.machine, died: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process, s.changed = p, time.Now()
	return p
}

// options are those with which a process serves.
func (p *process) options() server.Options {
	s, w := p.slot, p.slot.w
	sacks := w.options.Sacks
	if w.sacks() > 0 {
		sacks = 0 // as the folder has them
	}
	wait := time.Hour // longer than any store is silent: then the order of requests always counts
	if w.shipped() {
		wait = 0
	}
	options := server.Options{Listen: s.listen, MemoryBytes: 64 << 20, Logger: w.logger(s.name),
		Cluster: cluster.Options{Data: s.machine.folder, FS: &mount{p, w.disk}, Role: s.role, Sacks: sacks,
			Init: !w.initialized(), Node: s.name, Peers: cluster.Peers{Listen: s.peers},
			ClockShift: w.shift(s.machine), Workers: 1, CheckpointInterval: 20 * time.Second, SkipDefaultPolicies: true,
			OrderWait: wait,
			Machine: cluster.Machine{
				Listen: func(_, address string) (net.Listener, error) { return w.network.listen(p, address) },
				Dial: func(ctx context.Context, _, address string) (net.Conn, error) {
					return w.network.dial(ctx, p, s.machine.host, address)
				},
				Clock: processClock{p},
				Exit:  p.exit,
			}}}
	if s.role == cluster.RoleMetricd {
		options.Listen = ""
	}
	return options
}

// exit is os.Exit for one process.
func (p *process) exit(status int) {
	p.slot.w.log("exit", "process", p.slot.name, "status", status)
	p.kill("exit")
	select {}
}

// restart ends a process as a supervisor does, and lets another one start.
func (s *slot) restart() {
	p := s.current()
	if p == nil || p.server == nil || !p.close() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	closed := make(chan error, 1)
	go func() { closed <- p.server.Close(ctx) }()
	select {
	case err := <-closed:
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			s.w.log("closed", "process", s.name, "error", err)
		}
	case <-time.After(100 * time.Second):
		s.w.log("does not end", "process", s.name)
	case <-p.died:
		return
	}
	p.kill("stopped")
}

// close reports whether nobody has asked the process to end before: a second signal changes nothing.
func (p *process) close() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := !p.closing
	p.closing = true
	return first
}

func (s *slot) current() *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process
}

func (s *slot) hold(hold bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if hold {
		s.held++
	} else {
		s.held--
	}
}
