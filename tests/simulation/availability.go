package simulation

import (
	"net/http"
	"time"
)

// excuse is a time in which a fault may keep a process from answering: on one machine, or on all.
type excuse struct {
	from, until time.Time
	machine     *machine // nil: all
}

// takeover is within which time others serve what a process held that was stopped, or a machine that is gone: its lease
// of 10 s, the slack of 5 s, the opening, and a refresh.
const takeover = 25 * time.Second

// recovery is for how long after its end a fault may keep processes from answering.
func (w *World) recovery() time.Duration {
	if w.options.Plain {
		return settled
	}
	return takeover
}

// elsewhere is for how long from its beginning a fault may keep processes of other machines from answering. One that is
// not here may do so until recovery after its end. A kill at a step counts as a kill, from the step on.
var elsewhere = map[string]time.Duration{
	"kill": 15 * time.Second, "kill at a step": 0, "restart": 10 * time.Second, "leave": 10 * time.Second,
	"stop": takeover, "slow thaw": takeover, "power": takeover, "wrong clock": takeover, "suspend": takeover,
	"cut from the disk": takeover, "unmount": takeover, "drift": 0,
}

// excuse notes for how long a fault that has begun may be noticed. A machine that is hit itself is given until
// recovery after the end.
func (w *World) excuse(f *fault, subject string, lasts time.Duration) {
	now := time.Now()
	all := excuse{from: now, until: now.Add(lasts + w.recovery())}
	w.mu.Lock()
	defer w.mu.Unlock()
	if short, ok := elsewhere[f.name]; ok {
		if f.name == "power" || f.name == "wrong clock" {
			short += w.disk.keeps
		}
		for _, m := range w.machines {
			if m.name == subject {
				own := all
				own.machine = m
				w.excuses = append(w.excuses, own)
			}
		}
		all.until = now.Add(short)
	}
	w.excuses = append(w.excuses, all)
}

// failures are requests of a kind that fail one after the other.
type failures struct{ since, last time.Time }

// answered reports whether a request was answered, if only with a refusal.
func (a *answer) answered() bool { return a.status != 0 && a.status < 500 }

// insist asks again and again what was not answered, of the same process, for as long as that is a breach or excused.
func (c *client) insist(to *slot, path string, a *answer) *answer {
	for began := time.Now(); c.w.options.Insist && !a.answered() && time.Since(began) < time.Minute; {
		time.Sleep(500 * time.Millisecond)
		a = c.ask(to, http.MethodGet, path, nil)
	}
	return a
}

// patience is for how long a healthy process may fail to answer without an excuse.
const patience = 10 * time.Second

// checkAvailability holds a healthy process to answer at all: failures in a row of one kind of request, without a
// success between, are a breach if they last longer than the faults meanwhile excuse.
func (w *World) checkAvailability(to *slot, a *answer, what string) {
	ended := a.began.Add(a.took)
	to.mu.Lock()
	well := to.process != nil && to.process == a.by && a.began.Sub(to.changed) > takeover
	f := to.failing[what]
	if !well || a.answered() {
		delete(to.failing, what)
		to.mu.Unlock()
		return
	}
	if a.began.Sub(f.last) > patience {
		f.since = a.began
	}
	f.last = ended
	to.failing[what] = f
	since := f.since
	to.mu.Unlock()
	if unexcused := w.unexcused(to.machine, since, ended); unexcused > patience {
		w.breach("%s at %s fails for %v, %v of it without an excuse: %d %q (%v)", what, to.name, ended.Sub(since), unexcused,
			a.status, a.body[:min(len(a.body), 200)], a.err)
		to.mu.Lock()
		defer to.mu.Unlock()
		delete(to.failing, what)
	}
}

// unexcused returns how much of a time no fault excuses.
func (w *World) unexcused(m *machine, from, to time.Time) (left time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	const step = 100 * time.Millisecond
	for at := from; at.Before(to); at = at.Add(step) {
		excused := false
		for _, e := range w.excuses {
			excused = excused || (e.machine == nil || e.machine == m) && !at.Before(e.from) && at.Before(e.until)
		}
		if !excused {
			left += step
		}
	}
	return left
}

// watched returns in how much of the run a healthy process of each API had to answer.
func (w *World) watched() (part float64) {
	var all, watched time.Duration
	for _, s := range w.apis() {
		all += time.Since(w.began)
		watched += w.unexcused(s.machine, w.began, time.Now())
	}
	return float64(watched) / float64(all)
}
