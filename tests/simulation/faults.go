package simulation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// fault is one kind of trouble. It begins, and ends after a time that it is given.
type fault struct {
	name string
	// local faults trouble one process: clients of the others notice nothing but its absence.
	local bool
	begin func(w *World) (subject string, end func())
}

// stops reports whether others take a living process for dead.
func (f *fault) stops() bool { return f.name == "stop" || f.name == "slow thaw" }

var nothing = func() {}

// faults are all kinds.
var faults = []fault{
	{"kill", true, func(w *World) (string, func()) {
		s := w.anySlot()
		if p := s.current(); p != nil {
			p.kill("fault")
		}
		return s.name, nothing
	}},
	{"kill at a step", true, func(w *World) (string, func()) {
		s, steps := w.anySlot(), 1+w.rand.IntN(3000)
		if p := s.current(); p != nil {
			p.mu.Lock()
			p.left = steps
			p.mu.Unlock()
		}
		return s.name, nothing
	}},
	{"restart", true, func(w *World) (string, func()) {
		s := w.anySlot()
		go s.restart()
		return s.name, nothing
	}},
	{"rolling restart", true, func(w *World) (string, func()) {
		go func() {
			for _, s := range w.slots {
				s.restart()
				time.Sleep(8 * time.Second)
			}
		}()
		return "all", nothing
	}},
	{"stop", true, func(w *World) (string, func()) {
		s := w.anySlot()
		p := s.current()
		if p == nil {
			return s.name, nothing
		}
		s.touch()
		p.stop(true)
		return s.name, func() { p.stop(false); s.touch() }
	}},
	// A starved machine goes on thread by thread: one writes or answers while that of the heartbeat still sleeps.
	{"slow thaw", true, func(w *World) (string, func()) {
		s := w.anySlot()
		p := s.current()
		if p == nil {
			return s.name, nothing
		}
		s.touch()
		p.mu.Lock()
		p.thaw = slowThaw
		p.mu.Unlock()
		p.stop(true)
		return s.name, func() { p.stop(false); s.touch() }
	}},
	{"leave", true, func(w *World) (string, func()) {
		s := w.anySlot()
		s.hold(true)
		go s.restart()
		return s.name, func() { s.hold(false) }
	}},
	{"power", false, func(w *World) (string, func()) {
		m := w.anyMachine()
		w.powerOff(m)
		return m.name, func() { w.powerOn(m) }
	}},
	{"power of all", false, func(w *World) (string, func()) {
		for _, m := range w.machines {
			w.powerOff(m)
		}
		w.disk.powerCut()
		w.disk.forgetCallers()
		return "all", func() {
			for _, m := range w.machines {
				w.powerOn(m)
			}
		}
	}},
	{"cut from a machine", false, func(w *World) (string, func()) {
		a, b := w.anyMachine(), w.anyMachine()
		w.network.setCut(a.host, b.host, true)
		return a.name + " to " + b.name, func() { w.network.setCut(a.host, b.host, false) }
	}},
	{"cut from the network", false, func(w *World) (string, func()) {
		m := w.anyMachine()
		set := func(cut bool) {
			for _, other := range w.hosts() {
				w.network.setCut(m.host, other, cut)
				w.network.setCut(other, m.host, cut)
			}
		}
		set(true)
		return m.name, func() { set(false) }
	}},
	{"cut from the disk", false, func(w *World) (string, func()) {
		m := w.anyMachine()
		m.setCut(true)
		return m.name, func() { m.setCut(false) }
	}},
	{"loss", false, func(w *World) (string, func()) {
		w.network.setQuality(2+w.rand.IntN(30), time.Duration(1+w.rand.IntN(100))*time.Millisecond)
		return "", func() { w.network.setQuality(0, 200*time.Microsecond) }
	}},
	{"slow syncs", false, func(w *World) (string, func()) {
		w.disk.setSpeed(time.Duration(10+w.rand.IntN(2000))*time.Millisecond, time.Millisecond)
		return "", func() { w.disk.setSpeed(2*time.Millisecond, 0) }
	}},
	{"full", false, func(w *World) (string, func()) {
		w.disk.setFull(true)
		return "", func() { w.disk.setFull(false) }
	}},
	{"unmount", false, func(w *World) (string, func()) {
		m := w.anyMachine()
		if err := m.setMounted(false); err != nil {
			w.breach("unmount: %v", err)
		}
		return m.name, func() {
			for _, p := range w.on(m) {
				p.kill("before the mount")
			}
			if err := m.setMounted(true); err != nil {
				w.breach("mount: %v", err)
			}
		}
	}},
	{"drift", false, func(w *World) (string, func()) {
		m := w.anyMachine()
		m.setRate(1 + (w.rand.Float64()-0.5)*4e-4) // twice as wrong as quartz is
		return m.name, nothing
	}},
	{clockJump, false, func(w *World) (string, func()) {
		m := w.anyMachine()
		m.jump(time.Duration(w.rand.Int64N(int64(longestJump))))
		return m.name, nothing
	}},
	{"suspend", false, func(w *World) (string, func()) {
		m := w.anyMachine()
		stopped := w.on(m)
		for _, p := range stopped {
			p.slot.touch()
			p.stop(true)
		}
		return m.name, func() {
			for _, p := range stopped {
				p.stop(false)
				p.slot.touch()
			}
		}
	}},
	{"wrong clock", false, func(w *World) (string, func()) {
		m := w.anyMachine()
		w.powerOff(m)
		m.wall = time.Duration(w.rand.Int64N(int64(2*wrongTime))) - wrongTime
		return m.name, func() { w.powerOn(m) }
	}},
	{"repartition", false, func(w *World) (string, func()) {
		to, r := 1+w.rand.IntN(8), rand.New(rand.NewPCG(w.rand.Uint64(), 3))
		done := make(chan struct{})
		go func() {
			defer close(done)
			w.repartition(to, r)
		}()
		return fmt.Sprintf("%d sacks", to), func() { <-done }
	}},
	{"late answers", false, func(w *World) (string, func()) {
		m := w.anyMachine()
		m.setFaults(time.Duration(1+w.rand.IntN(12))*time.Second, 0, 0)
		return m.name, func() { m.setFaults(0, 0, 0) }
	}},
	{"repeated changes", false, func(w *World) (string, func()) {
		m := w.anyMachine()
		m.setFaults(0, 1+w.rand.IntN(8), 0)
		return m.name, func() { m.setFaults(0, 0, 0) }
	}},
	{"failing syncs", false, func(w *World) (string, func()) {
		m := w.anyMachine()
		m.setFaults(0, 0, 1+w.rand.IntN(200))
		return m.name, func() { m.setFaults(0, 0, 0) }
	}},
	{"full at syncs", false, func(w *World) (string, func()) {
		w.disk.setFullAtSync(true)
		return "", func() { w.disk.setFullAtSync(false) }
	}},
}

// slowThaw is how long threads take to go on after a "slow thaw".
const slowThaw = 4 * time.Second

// settled is how long after a fault of all processes some may still be slow.
const settled = time.Minute

const (
	clockJump = "clock jump"
	// longestJump of a clock.
	longestJump = time.Minute
	// wrongTime is by how much the system time of a machine may be wrong when it starts.
	wrongTime = 5 * time.Minute
	// clocksApart is how far two processes that reach each other may have their clocks apart (cluster/clock_jumps.go).
	clocksApart = 600 * time.Millisecond
	// foundOut is how long a jump stays unnoticed where a process did not reach the others at once.
	foundOut = 15 * time.Second
)

// noteClocks notes whether a fault that lasts until then keeps processes from comparing their clocks after a jump.
func (w *World) noteClocks(f *fault, until time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	switch {
	case f.name == clockJump:
		w.jumped = now
	case f.local && !f.stops() || f.name == "drift":
		return
	case until.After(w.apartUntil):
		w.apartUntil = until
	}
	if now.Sub(w.jumped) < foundOut && now.Before(w.apartUntil) {
		w.doubts = append(w.doubts, [2]time.Time{w.jumped, w.apartUntil.Add(foundOut)})
	}
}

// apart returns how much later than an acknowledgement a request to another process has to begin, to count as later.
func (w *World) apart(at time.Time) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range w.doubts {
		if !at.Before(d[0]) && at.Before(d[1]) {
			return clocksApart + longestJump
		}
	}
	return clocksApart
}

// chosen are the kinds of fault of a run: all in one run of two, else one to three that come more often.
func (w *World) chosen() (kinds []fault, between time.Duration) {
	between = w.options.Between
	only, without := strings.Split(w.options.Faults, ","), strings.Split(w.options.Without, ",")
	for _, f := range faults {
		if slices.Contains(only, f.name) || w.options.Faults == "" && !slices.Contains(without, f.name) {
			kinds = append(kinds, f)
		}
	}
	if w.options.Faults == "" && w.rand.IntN(2) == 0 {
		w.rand.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
		kinds = kinds[:1+w.rand.IntN(3)]
		between = between * 2 / 3
	}
	// Rare ones, between which a healthy process has no excuse.
	if o := w.options; o.Insist && (o.Seed%3 == 0 || !o.Plain && o.Seed%2 == 0) {
		between *= 4
	}
	return kinds, between
}

// disturb makes trouble for a while, from nothing to three kinds at a time.
func (w *World) disturb(length time.Duration) {
	chosen, between := w.chosen()
	for began := time.Now(); time.Since(began) < length; {
		time.Sleep(time.Duration(w.rand.Int64N(int64(2 * between))))
		if len(chosen) == 0 {
			continue
		}
		f := chosen[w.rand.IntN(len(chosen))]
		lasts := time.Duration(w.rand.Int64N(int64(40 * time.Second)))
		subject, end := f.begin(w)
		w.excuse(&f, subject, lasts)
		w.noteClocks(&f, time.Now().Add(lasts))
		w.log("FAULT", "fault", f.name, "subject", subject, "lasts", lasts)
		if !f.local || f.stops() {
			w.crashed(lasts + settled)
		}
		w.mu.Lock()
		if until := time.Now().Add(lasts + settled); !f.local && until.After(w.disturbed) {
			w.disturbed = until
		}
		w.mu.Unlock()
		w.ends.Go(func() {
			time.Sleep(lasts)
			end()
			w.log("END", "fault", f.name, "subject", subject)
		})
	}
	w.ends.Wait()
}

// heal waits until all processes run again.
func (w *World) heal() {
	w.mu.Lock()
	w.disturbed = time.Now().Add(2 * settled)
	w.mu.Unlock()
	time.Sleep(2 * settled)
}

func (w *World) anySlot() *slot       { return w.slots[w.rand.IntN(len(w.slots))] }
func (w *World) anyMachine() *machine { return w.machines[w.rand.IntN(len(w.machines))] }

// on returns the processes that run on a machine.
func (w *World) on(m *machine) (running []*process) {
	for _, s := range append(slices.Clone(w.slots), w.commands...) {
		if p := s.current(); p != nil && s.machine == m {
			running = append(running, p)
		}
	}
	return running
}

// hosts are all addresses, also of clients.
func (w *World) hosts() (all []string) {
	for _, m := range w.machines {
		all = append(all, m.host)
	}
	for _, c := range w.clients {
		all = append(all, c.host)
	}
	return all
}

// powerOff ends a machine at once.
func (w *World) powerOff(m *machine) {
	w.mu.Lock()
	on := w.power[m]
	w.power[m] = false
	w.boots[m]++
	w.mu.Unlock()
	if !on {
		return
	}
	w.network.setPower(m.host, false)
	for _, p := range w.on(m) {
		p.end("power")
	}
	w.disk.powerOff(m)
	w.disk.leaves(m)
}

func (w *World) powerOn(m *machine) {
	w.network.setPower(m.host, true)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.power[m] = true
}

func (n *network) setQuality(lossOneIn int, delay time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lossOneIn, n.delay = lossOneIn, delay
}

func (d *disk) setSpeed(sync, op time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.syncTime, d.opTime = sync, op
}

func (d *disk) setFull(full bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full = full
}

func (d *disk) setFullAtSync(full bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fullAtSync = full
}

// touch notes that clients of the process may wait.
func (s *slot) touch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed = time.Now()
}
