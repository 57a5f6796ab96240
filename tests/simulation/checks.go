package simulation

import (
	"net/http"
	"time"

	"github.com/gnocco-db/gnocco/cluster"
)

func (w *World) apis() (found []*slot) {
	for _, s := range w.slots {
		if s.role == cluster.RoleAPI {
			found = append(found, s)
		}
	}
	return found
}

// longestAnswer is promised of a healthy process: 2 s for each of three waits, for the holders of the index, of a sack
// and of an incoming store.
const longestAnswer = 6500 * time.Millisecond

// checkTime holds a process that is well, on a disk and a network that are, to answer in time.
func (w *World) checkTime(to *slot, a *answer, what string) {
	w.mu.Lock()
	calm := a.began.After(w.disturbed)
	w.mu.Unlock()
	to.mu.Lock()
	well := to.process != nil && a.began.Sub(to.changed) > time.Minute
	to.mu.Unlock()
	if calm && well && a.took > longestAnswer {
		w.breach("%s at %s was answered after %v with %d (%v)", what, to.name, a.took, a.status, a.err)
	}
}

// prepare waits for the cluster, and makes policies and clients.
func (w *World) prepare() error {
	for i := range w.options.Clients {
		w.clients = append(w.clients, newClient(w, i))
	}
	for _, p := range policies {
		a := w.clients[0].untilOK(http.MethodPost, "/v1/archive_policy", p.body(), 3*time.Minute)
		if !a.ok() && a.status != http.StatusConflict {
			w.breach("no policy within three minutes: %d %s %v", a.status, a.body, a.err)
		}
	}
	a := w.clients[0].untilOK(http.MethodPost, "/v1/archive_policy_rule",
		map[string]any{"name": "all", "metric_pattern": "*", "archive_policy_name": policies[0].name}, time.Minute)
	if !a.ok() && a.status != http.StatusConflict {
		w.breach("no rule: %d %s", a.status, a.body)
	}
	return nil
}

// finish holds the cluster, whose faults are over, to everything that was acknowledged.
func (w *World) finish() {
	const limit = 5 * time.Minute
	for _, c := range w.clients {
		for _, m := range c.metrics {
			if m.label != "" {
				w.settle(c, m)
				continue
			}
			for _, granularity := range m.policy.granularities {
				began := time.Now()
				for !c.compare(m, granularity, true, c.api()) {
					if time.Since(began) > limit {
						w.breach("%s cannot be read %v after the last fault", m.id, limit)
						return
					}
					time.Sleep(time.Second)
				}
			}
		}
		for _, m := range c.deleted {
			a := c.untilOK(http.MethodGet, "/v1/metric/"+m.id, nil, 0)
			if a.ok() {
				w.breach("metric %s is there after it was deleted", m.id)
			}
		}
	}
	for _, s := range w.slots {
		s.hold(true)
	}
	for _, s := range w.slots {
		if s.current() == nil {
			w.breach("%s does not run at the end", s.name)
		}
		s.restart()
	}
}

// crashed notes that reads without a refresh may show less than before: the next holder of a sack begins with its last
// checkpoint.
func (w *World) crashed(lasts time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if until := time.Now().Add(lasts); until.After(w.crash) {
		w.crash = until
	}
}

// lastCrash returns the end of the time in which a sack may have changed hands without a hand-over; at most now.
func (w *World) lastCrash(began time.Time) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := time.Now(); w.crash.After(began) {
		return now
	}
	return w.crash
}

// settle waits until PromQL, which knows no refresh, shows all of a metric.
func (w *World) settle(c *client, m *metric) {
	granularity := int64(60)
	for began := time.Now(); ; time.Sleep(time.Second) {
		if c.queryPromQL(m, c.api()) {
			missing := 0
			for start, b := range m.groups(granularity, true) {
				if b.low > 0 && start >= (m.newest/granularity+1)*granularity-queryRange && m.shown[start] < b.lowSum {
					missing++
				}
			}
			if missing == 0 {
				return
			}
		}
		if time.Since(began) > time.Minute {
			w.breach("of %s not all is shown a minute after the last fault", m.selector())
			return
		}
	}
}
