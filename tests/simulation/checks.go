package simulation

import (
	"encoding/json"
	"net/http"
	"slices"
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
	all := policies
	if !w.options.Plain {
		all = append(slices.Clone(all), sharedPolicy)
	}
	for _, p := range all {
		a := w.clients[0].untilOK(http.MethodPost, "/v1/archive_policy", p.body(w.methods()), 3*time.Minute)
		if !a.ok() && a.status != http.StatusConflict {
			w.breach("no policy within three minutes: %d %s %v", a.status, a.body, a.err)
		}
	}
	a := w.clients[0].untilOK(http.MethodPost, "/v1/archive_policy_rule",
		map[string]any{"name": "all", "metric_pattern": "*", "archive_policy_name": policies[0].name}, time.Minute)
	if !a.ok() && a.status != http.StatusConflict {
		w.breach("no rule: %d %s", a.status, a.body)
	}
	if !w.options.Plain {
		w.prepareMore()
	}
	return nil
}

// prepareMore makes what all clients use.
func (w *World) prepareMore() {
	a := w.clients[0].untilOK(http.MethodPost, "/v1/resource_type",
		map[string]any{"name": thingType, "attributes": map[string]any{"n": map[string]any{"type": "number"}}}, time.Minute)
	if !a.ok() && a.status != http.StatusConflict {
		w.breach("no resource type: %d %s", a.status, a.body)
	}
	if a := w.clients[0].untilOK(http.MethodPost, "/v1/rules", ruleFile, time.Minute); !a.ok() {
		w.breach("no recording rules: %d %s", a.status, a.body)
	}
	for range 2 {
		a := w.clients[0].untilOK(http.MethodPost, "/v1/metric", map[string]any{"archive_policy_name": sharedPolicy.name},
			time.Minute)
		var made struct{ ID string }
		if err := json.Unmarshal(a.body, &made); err != nil || !a.ok() {
			w.breach("no metric: %d %s (%v)", a.status, a.body, err)
			continue
		}
		w.shared = append(w.shared, &sharedMetric{id: made.ID, begin: time.Now().Unix() - 86400,
			sent: make(map[int64]float64), acked: make(map[int64]float64)})
	}
}

// settleShared holds what all clients use, and resources, to all that was acknowledged.
func (w *World) settleShared(limit time.Duration) {
	until := func(what string, answered func() bool) {
		for began := time.Now(); !answered(); time.Sleep(time.Second) {
			if time.Since(began) > limit {
				w.breach("%s cannot be read %v after the last fault", what, limit)
				return
			}
		}
	}
	for _, m := range w.shared {
		for range 4 { // granularities come by chance
			until(m.id, func() bool { return w.clients[0].compareShared(m) })
		}
	}
	for _, c := range w.clients {
		for _, t := range c.things {
			for range 6 { // as do the ways to read it
				until(t.path, func() bool { return c.readThing(t) })
			}
		}
		for _, gone := range c.goneThings {
			if a := c.untilOK(http.MethodGet, gone, nil, 0); a.ok() {
				w.breach("%s is there after it was deleted", gone)
			}
		}
	}
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
	w.settleShared(limit)
	if !w.options.Plain {
		w.settleRules(limit)
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
