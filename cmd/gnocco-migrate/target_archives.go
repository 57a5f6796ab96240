package main

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// targetSack is the store of a sack with the batch under way.
type targetSack struct {
	store *archive.Store

	mu         sync.Mutex
	checkpoint *archive.Checkpoint // nil where nothing waits
	begun      time.Time           // of checkpoint
	metrics    []uuid.UUID         // that are in it as a whole
}

func (t *target) sackOf(id uuid.UUID) *targetSack { return t.sacks[model.Sack(id, len(t.sacks))] }

// since returns from where on a metric's groups may have changed since it was last written whole; 0: all of them.
func (t *target) since(m *model.Metric) (carbonara.Timestamp, error) {
	if t.log.pass(m.ID) == 0 {
		return 0, nil
	}
	plan := m.ArchivePolicy.Plan()
	newest, ok, err := t.sackOf(m.ID).store.Newest(m.ID, plan.Granularities[0])
	if err != nil || !ok {
		return 0, err
	}
	return model.KeepFrom(plan, m.ArchivePolicy.BackWindow, newest), nil
}

// put writes what a source has of a metric, all of it or what may have changed since a time.
func (t *target) put(m *model.Metric, a *archived, since carbonara.Timestamp) (unknown inexact, err error) {
	s := t.sackOf(m.ID)
	// The conversion is done before the lock is taken.
	var all []*carbonara.Groups
	for _, g := range m.ArchivePolicy.Granularities() {
		groups, some := groupsOf(m.ArchivePolicy, g, a.aggregates[g])
		unknown.add(some)
		all = append(all, groups)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.begin()
	if since == 0 {
		c.Delete(m.ID)
	}
	for _, groups := range all {
		c.PutGroups(m.ID, groups)
	}
	if a.raw != nil {
		putRaw(c, m, a.raw)
	} else {
		putPartial(c, m, all)
	}
	s.metrics = append(s.metrics, m.ID)
	if c.Bytes() < commitBytes && time.Since(s.begun) < commitAfter {
		return unknown, nil
	}
	return unknown, t.commit(s)
}

// begin returns the batch under way. s.mu is held, or nobody else uses s.
func (s *targetSack) begin() *archive.Checkpoint {
	if s.checkpoint == nil {
		s.checkpoint, s.begun = s.store.NewCheckpoint(), time.Now()
	}
	return s.checkpoint
}

// putRaw writes a raw series. Gnocchi cuts one at the start of a block: at that of the back window, unless it has
// earlier measures.
func putRaw(c *archive.Checkpoint, m *model.Metric, raw *series) {
	n := len(raw.timestamps)
	if n == 0 {
		return
	}
	plan := m.ArchivePolicy.Plan()
	present, _ := present(plan, raw.timestamps)
	complete := min(raw.timestamps[0].Floor(plan.Coarsest()),
		model.OldestAccepted(plan, m.ArchivePolicy.BackWindow, present))
	if present == raw.timestamps[n-1] {
		present = carbonara.MaxTimestamp
	}
	c.AppendRawAhead(m.ID, complete, present, false, raw.timestamps, raw.values)
}

// present returns the last of timestamps that is not ahead now, and its index; 0 and -1 for none.
func present(plan *carbonara.Plan, timestamps []carbonara.Timestamp) (t carbonara.Timestamp, i int) {
	n, _ := slices.BinarySearch(timestamps, model.AheadFrom(plan, time.Now().UnixNano()))
	if n == 0 {
		return 0, -1
	}
	return timestamps[n-1], n - 1
}

// putPartial writes what stands for the raw series where there is none: all measures so far count as if they were from
// the start of the newest group, and are known by that group's and wider groups' aggregates. Measures after that
// are added to these groups. Percentiles cannot be added to, and are unknown from then on.
func putPartial(c *archive.Checkpoint, m *model.Metric, all []*carbonara.Groups) {
	finest := all[0]
	n := finest.Len()
	if n == 0 {
		return
	}
	// Groups ahead stay as they are.
	if _, i := present(m.ArchivePolicy.Plan(), finest.Starts); i >= 0 && i < n-1 {
		part := finest.Slice(0, i+1)
		finest, n = &part, i+1
	}
	newest := finest.Starts[n-1]
	partial := &archive.PartialGroups{Before: newest + 1}
	for _, groups := range all {
		if i, ok := slices.BinarySearch(groups.Starts, newest.Floor(groups.Granularity)); ok {
			partial.Rows = append(partial.Rows, withoutPercentiles(groups.Slice(i, i+1)))
		}
	}
	c.AppendRaw(m.ID, partial.Before, []carbonara.Timestamp{newest}, []float64{lastValue(finest)})
	c.SetPartialGroups(m.ID, partial)
}

// withoutPercentiles returns a group whose percentiles are unknown.
func withoutPercentiles(group carbonara.Groups) carbonara.Groups {
	for i, c := range group.Columns {
		if c.Percentile() > 0 {
			group.Values[i] = []float64{carbonara.Absent()}
		}
	}
	return group
}

// lastValue returns the value of the newest measure, as far as the newest group tells: the next difference starts
// there.
func lastValue(g *carbonara.Groups) float64 {
	i := g.Len() - 1
	get := func(c carbonara.Column) float64 {
		if values := g.Column(c); values != nil && !carbonara.IsAbsent(values[i]) {
			return values[i]
		}
		return math.NaN()
	}
	if g.Column(carbonara.ColumnLast) != nil {
		return get(carbonara.ColumnLast)
	}
	if n := get(carbonara.ColumnCount); g.Column(carbonara.ColumnSum) != nil && n > 0 {
		return get(carbonara.ColumnSum) / n
	}
	if g.Column(carbonara.ColumnMax) != nil {
		return get(carbonara.ColumnMax)
	}
	return get(carbonara.ColumnMin)
}

// commit makes the batch of a sack durable, and then notes its metrics. s.mu is held.
func (t *target) commit(s *targetSack) error {
	if s.checkpoint == nil {
		return nil
	}
	c := s.checkpoint
	s.checkpoint = nil
	c.SetTime(time.Now())
	if err := c.Commit(); err != nil {
		return err
	}
	err := t.log.add(t.state.pass(), s.metrics)
	s.metrics = s.metrics[:0]
	return err
}

// dropOthers deletes the archives of metrics that the source does not have any more.
func (t *target) dropOthers(d *definitions) (dropped int) {
	known := make(map[uuid.UUID]bool, len(d.metrics))
	for _, m := range d.metrics {
		known[m.ID] = true
	}
	for id := range t.log.written {
		if known[id] {
			continue
		}
		t.sackOf(id).begin().Delete(id)
		dropped++
	}
	return dropped
}
