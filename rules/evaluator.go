package rules

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/parallel"
	"github.com/gnocco-db/gnocco/internal/pause"
	"github.com/gnocco-db/gnocco/internal/repeated"
	"github.com/gnocco-db/gnocco/metricd/changes"
	"github.com/gnocco-db/gnocco/model"
)

const (
	roundInterval = time.Second
	pollInterval  = 5 * time.Second  // between two polls of the sacks, if nothing is due
	listenAtOnce  = 16               // sacks
	leastLag      = 10 * time.Second // between a cell's time and its evaluation
	retryAfter    = 30 * time.Second
	gatherFor     = 2 * time.Minute // changes are evaluated together, after earlier ones are done
	retryFailed   = 10 * time.Minute
)

// Run evaluates until ctx ends. Only one process does, that which holds the index.
func (m *Manager) Run(ctx context.Context) {
	waiting := &repeated.Warning{Warn: m.options.Logger.Warn, Message: "recording rules wait; trying again"}
	for range pause.Ticks(ctx, roundInterval) {
		if err := m.Round(ctx, m.options.Now()); ctx.Err() == nil {
			waiting.Note(err)
		}
	}
}

// Round evaluates the cells that are due at a time, and some of the others.
func (m *Manager) Round(ctx context.Context, now time.Time) error {
	m.mu.Lock()
	err := m.load(ctx)
	rules, due := m.rules, false
	horizon := carbonara.Timestamp(0)
	for _, r := range rules {
		horizon, due = max(horizon, r.due(now).Add(r.ahead)), due || r.Next <= r.due(now)
	}
	m.mu.Unlock()
	if err != nil || len(rules) == 0 && m.silent {
		return err
	}
	if due || now.Sub(m.polled) >= pollInterval {
		if err := m.poll(ctx, horizon, now); err != nil {
			return err
		}
	}
	var done []*Rule
	for _, r := range rules {
		if m.extend(r, now) {
			m.work(ctx, r, now)
			done = append(done, r)
		}
	}
	for began := m.options.Now(); ctx.Err() == nil && m.options.Now().Sub(began) < roundInterval; { // more may be due
		r := m.background(rules, now)
		if r == nil {
			m.shared.forget()
			break
		}
		if m.work(parallel.Half(ctx), r, now); len(r.Todo) == 0 {
			r.upToDate = now
		}
		done = append(done, r)
		_ = pause.For(ctx, r.took)
	}
	if err := m.commit(ctx, done, m.lastChange); err != nil {
		return err
	}
	return ctx.Err()
}

// due returns the last cell of a rule that is due.
func (r *Rule) due(now time.Time) carbonara.Timestamp {
	lag := max(time.Duration(r.group.Offset), leastLag) + r.ahead
	return carbonara.FromTime(now.Add(-lag)).Floor(r.group.every())
}

// extend adds the cells of a rule that are due to those that are to do, and reports whether there are any.
func (m *Manager) extend(r *Rule, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	last := r.due(now)
	if r.Next > last {
		return false
	}
	every := r.group.every()
	r.dueAfter = cmp.Or(r.Next, last).Add(-every)
	r.Todo = r.Todo.with(span{max(0, r.Next.Add(-every)), last}) // of a new rule, all
	r.Next = last.Add(every)
	return true
}

// background returns the rule with the newest cells that are to do, nil for none. A rule that failed waits.
func (m *Manager) background(rules []*Rule, now time.Time) (newest *Rule) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range rules {
		if now.Sub(r.failedAt) >= retryFailed {
			for _, failed := range r.Failed {
				r.Todo = r.Todo.with(failed)
			}
			r.Failed, r.failedBy = nil, ""
		}
		if len(r.Todo) > 0 && !r.group.Paused && now.Sub(r.upToDate) >= gatherFor &&
			(r.fault == "" || now.Sub(r.last) >= retryAfter) &&
			(newest == nil || r.Todo[len(r.Todo)-1].To > newest.Todo[len(newest.Todo)-1].To) {
			newest = r
		}
	}
	return newest
}

// poll sets the horizon of all sacks, and adds the cells that changes touched to those that are to do. Horizon 0 says
// that there are no rules. A sack forgets its changes with the next poll: then their cells are durably to do.
// Evaluation waits for the answers of all sacks: they set the horizon.
func (m *Manager) poll(ctx context.Context, horizon carbonara.Timestamp, now time.Time) error {
	answers := make([]changes.Answer, len(m.seen))
	var all errgroup.Group
	all.SetLimit(listenAtOnce)
	for sack, seen := range m.seen {
		all.Go(func() (err error) {
			patience, cancel := context.WithTimeout(ctx, pollInterval)
			defer cancel()
			answers[sack], err = m.options.Archives.(listener).Changes(patience, sack, changes.Request{
				Seen: seen, Horizon: horizon})
			return err
		})
	}
	if err := all.Wait(); err != nil {
		return err
	}
	found, lastChange := m.relabelled(ctx)
	for _, a := range answers {
		found = append(found, a.Changes...)
	}
	touched := map[*Rule]bool{}
	for _, one := range found {
		metric, err := m.options.Index.Read(one.Metric)
		if err == nil {
			m.touch(touched, one, granularityAt(one.From, now, metric.ArchivePolicy), metric)
		} else if one.Metric == uuid.Nil { // else it was deleted, and an earlier poll saw that
			m.touch(touched, one, granularityAt(one.From, now, m.options.Index.ArchivePolicies()...), nil)
		}
	}
	if err := m.commit(ctx, slices.Collect(maps.Keys(touched)), lastChange); err != nil {
		return err
	}
	m.shared.forget()
	m.mu.Lock()
	m.polled, m.silent = now, horizon == 0
	m.mu.Unlock()
	for sack, a := range answers {
		m.seen[sack] = a.Number
	}
	return nil
}

// relabelled returns the metrics that were deleted, or whose resources have other labels, since the last change.
func (m *Manager) relabelled(ctx context.Context) (found []changes.Change, last uint64) {
	index := m.options.Index
	metrics, resources, last, ok := index.ChangesSince(m.lastChange)
	if m.lastChange == 0 {
		return nil, last
	}
	all := func(id uuid.UUID) { found = append(found, changes.Change{Metric: id, To: carbonara.MaxTimestamp}) }
	changed := map[uuid.UUID]bool{}
	for _, id := range metrics {
		changed[id] = true
		one, err := index.Read(id)
		if ok = ok && err == nil; err == nil && one.Deleted {
			all(id)
		}
	}
	for _, id := range resources {
		r, err := index.Resource(model.GenericType, id)
		if err != nil || index.AddMetrics(ctx, r) != nil {
			continue // it was deleted, and so were its metrics
		}
		for _, metric := range r.Metrics {
			if !changed[metric] { // those that are new have no history
				all(metric)
			}
		}
	}
	if !ok { // the earlier labels are not known any more
		all(uuid.Nil)
	}
	return found, last
}

// touch adds the cells that a change touched to those that are to do, of the rules that read the metric, nil for any,
// and these rules to touched.
func (m *Manager) touch(touched map[*Rule]bool, c changes.Change, granularity time.Duration, metric *model.Metric) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.rules {
		if metric != nil && metric.Deleted && r.Series[metric.ID] { // results that somebody deleted
			delete(r.Series, metric.ID)
			r.Todo, touched[r] = r.Todo.with(span{r.Began, r.Next.Add(-r.group.every())}), true
		}
		for i := range r.inputs {
			s := r.inputs[i].touched(c.From, c.To, granularity)
			s.To = min(s.To, r.Next.Add(-r.group.every()))
			if s.From < s.To && (metric == nil || r.inputs[i].mayRead(metric)) {
				if r.Todo, touched[r] = r.Todo.with(s), true; s.From > 0 && s.To >= r.Began {
					r.Began = min(r.Began, s.From) // the inputs have an earlier history by now
				}
			}
		}
	}
}

// granularityAt returns the coarsest granularity by which archive policies answer for a time.
func granularityAt(at carbonara.Timestamp, now time.Time, policies ...*model.ArchivePolicy) (coarsest time.Duration) {
	for _, p := range policies {
		for _, g := range p.Granularities() {
			coarsest = max(coarsest, g)
			if timespan := p.Timespan(g); timespan == 0 || timespan > time.Duration(carbonara.FromTime(now)-at) {
				break
			}
		}
	}
	return coarsest
}
