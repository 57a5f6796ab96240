package view

import (
	"container/list"
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/metricd/heads"
	"github.com/gnocco-db/gnocco/model"
)

// Metrics that are read again and again, as by dashboards, keep their recent groups: those that a read of the archive
// with the head's measures on top gives. The next read resamples only the measures that came in since the last one; a
// checkpoint leaves recent groups as they are. docs/decisions/0044-reads.md.

// recentGroups are the latest groups of a head at one granularity.
type recentGroups struct {
	recentKey
	element *list.Element // in recentCache.used; nil once they were dropped
	bytes   int           // as counted there
	asked   uint32        // Reads.Asked of the last read; the lock of recentCache guards it

	mu     sync.Mutex          // taken with the lock of the heads held
	plan   *carbonara.Plan     // of the head
	kept   *carbonara.Plan     // of the columns that reads asked for, at the granularity
	groups carbonara.Groups    // of all columns of kept
	from   carbonara.Timestamp // every group that starts here or later is in them
	taken  int                 // how many of the head's pending measures are in them
	last   carbonara.Measure   // the newest measure in them
	widest int                 // rows that a read wanted

	// backWindow is for raw measures alone (recent_measures.go).
	backWindow int                 // of the policy by which they were read
	tooOld     carbonara.Timestamp // measures before are too many to be kept
}

// recentCache bounds the recent groups of a sack. Those that were not read for longest go first.
type recentCache struct {
	limit  int // bytes
	opened time.Time

	mu     sync.Mutex // taken last
	groups map[recentKey]*recentGroups
	used   list.List // of *recentGroups, the one read last in front
	size   int       // bytes
	kept   keptColumns
}

// keptColumns is the plan of some columns of another plan. Metrics that are read alike have one plan.
type keptColumns struct {
	of, plan *carbonara.Plan
	columns  []carbonara.Column
}

type recentKey struct {
	head        *heads.Head
	granularity int // index in its plan, or ofMeasures
}

func (c *recentCache) init(limit int64) {
	c.limit, c.opened, c.groups = int(max(limit, 0)), time.Now(), make(map[recentKey]*recentGroups)
}

const (
	// readAgain is how soon a metric must be read again to be worth its recent groups.
	readAgain = 10 * time.Minute
	// mostRecent is how many groups are kept of a metric and granularity, and 1/recentShare of the cache at most.
	mostRecent  = 16 << 10
	recentShare = 4
)

// of returns the recent groups of a head at the j-th granularity of its plan, which may have to be filled; nil if the
// metric was not read lately.
func (c *recentCache) of(h *heads.Head, j int, now time.Time) *recentGroups {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.limit == 0 {
		return nil
	}
	seconds := 1 + uint32(max(0, now.Sub(c.opened))/time.Second)
	again := isSoonAfter(h, j, seconds)
	if h.Reads.Recent {
		if r := c.groups[recentKey{h, j}]; r != nil {
			c.used.MoveToFront(r.element)
			r.asked = seconds
			return r
		}
	}
	if !again || !c.hasRoom(seconds) {
		return nil
	}
	r := &recentGroups{recentKey: recentKey{h, j}, asked: seconds}
	r.element = c.used.PushFront(r)
	c.groups[r.recentKey] = r
	h.Reads.Recent = true
	return r
}

// unask forgets that raw measures of a head were read.
func (c *recentCache) unask(h *heads.Head) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h.Reads.AskedMeasures = 0
}

// isSoonAfter notes a read, and reports whether there was another one shortly before. mu is held.
func isSoonAfter(h *heads.Head, j int, seconds uint32) bool {
	if j == ofMeasures {
		before, minutes := h.Reads.AskedMeasures, 1+uint16(seconds/60%math.MaxUint16)
		h.Reads.AskedMeasures = minutes
		return before != 0 && minutes-before <= uint16(readAgain/time.Minute)
	}
	before := h.Reads.Asked
	h.Reads.Asked = seconds
	return before != 0 && seconds-before <= uint32(readAgain/time.Second)
}

// hasRoom reports whether those of one more metric fit, or replace some that were not read for some time. Of a fleet
// that is larger than the cache, one part then stays: otherwise each metric would push out the one that is read next.
// mu is held.
func (c *recentCache) hasRoom(seconds uint32) bool {
	const least = 16 << 10 // bytes of a metric, about
	each := max(min(least, c.limit/recentShare), c.size/max(1, len(c.groups)))
	last := c.used.Back()
	return c.size+each <= c.limit ||
		last != nil && seconds-last.Value.(*recentGroups).asked > uint32(readAgain/time.Second)
}

// planOf returns the plan of some columns of another plan.
func (c *recentCache) planOf(of *carbonara.Plan, columns []carbonara.Column) *carbonara.Plan {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := &c.kept; k.of != of || !slices.Equal(k.columns, columns) {
		c.kept = keptColumns{of, of.Narrow(columns), slices.Clone(columns)}
	}
	return c.kept.plan
}

// find returns the recent groups of a head at the j-th granularity of its plan, nil for none.
func (c *recentCache) find(h *heads.Head, j int) *recentGroups {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !h.Reads.Recent {
		return nil
	}
	return c.groups[recentKey{h, j}]
}

// count notes the size of r and drops what does not fit any more. r.mu may be held.
func (c *recentCache) count(r *recentGroups) {
	const overhead = 512
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.element == nil {
		return
	}
	bytes := overhead + 8*cap(r.groups.Starts)*(1+len(r.groups.Values)) + r.groups.SketchBytes()
	c.size += bytes - r.bytes
	r.bytes = bytes
	for c.size > c.limit {
		c.drop(c.used.Back().Value.(*recentGroups))
	}
}

// drop forgets r. A read in progress may continue to use it. mu is held.
func (c *recentCache) drop(r *recentGroups) {
	c.used.Remove(r.element)
	c.size -= r.bytes
	delete(c.groups, r.recentKey)
	r.element = nil
}

// forget drops the recent groups of a head.
func (c *recentCache) forget(h *heads.Head) {
	for j := ofMeasures; j < len(h.Plan().Granularities); j++ {
		if r := c.find(h, j); r != nil {
			c.mu.Lock()
			c.drop(r)
			c.mu.Unlock()
		}
	}
}

// bytes returns how much memory recent groups have.
func (c *recentCache) bytes() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size
}

// readRecent appends what is asked for to dst if h keeps recent groups, or now begins to; ok is false if it does not.
// A read has no groups that expired: read.From says so. The lock of the heads is held, by reads.
func (v *View) readRecent(ctx context.Context, h *heads.Head, read *model.Read, now time.Time,
	dst *carbonara.Groups) (ok bool, err error) {
	j := slices.Index(h.Plan().Granularities, read.Granularity)
	if j < 0 || !h.HasMeasures() || h.HasPartial() || h.HasAhead() || h.Metric().Replicas || read.To <= read.From ||
		!h.HasColumns(read.Columns) {
		return false, nil
	}
	r := v.recent.of(h, j, now)
	if r == nil {
		return false, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if ok, err = v.update(ctx, r, read); !ok || err != nil {
		return false, err
	}
	if read.From < r.from {
		if ok, err = v.readBefore(ctx, r, read, dst); !ok || err != nil {
			return false, err
		}
	}
	from := r.groups.Search(max(read.From, r.from))
	to := max(from, r.groups.Search(read.To))
	if err := budget.Of(ctx).Acquire(budget.Answers, int64(8*(1+len(read.Columns))*(to-from))); err != nil {
		return false, err
	}
	before := dst.SketchBytes()
	dst.AppendRows(&r.groups, from, to)
	return true, budget.Of(ctx).Acquire(budget.Answers, int64(dst.SketchBytes()-before))
}

// readBefore appends the groups of a read that start before r.from to dst, from the archive; ok is false if pending
// measures belong to them.
func (v *View) readBefore(ctx context.Context, r *recentGroups, read *model.Read,
	dst *carbonara.Groups) (ok bool, err error) {
	if r.touched() < r.from {
		return false, nil
	}
	before := *read
	before.To = min(read.To, r.from)
	corrupt, err := v.options.Store.KeptGroups(ctx, &before, 0, dst)
	v.options.Corrupt(corrupt)
	if err == nil && corrupt == 0 && dst.Len() == 0 && read.To >= r.from {
		r.from = read.From // there is nothing more
	}
	return err == nil, err
}

// touched returns the start of the first group that pending measures fall into.
func (r *recentGroups) touched() carbonara.Timestamp {
	h := r.head
	if h.Pending() == 0 {
		return carbonara.MaxTimestamp
	}
	return h.Earliest().Floor(h.Plan().Granularities[r.granularity])
}

// update makes r hold all that the head and the archive do, as far back as read goes if that is not too far. ok is
// false if r is of no use to read. After an error r is empty.
func (v *View) update(ctx context.Context, r *recentGroups, read *model.Read) (ok bool, err error) {
	h, granularity := r.head, carbonara.Timestamp(read.Granularity)
	newest := h.Newest().Timestamp.Floor(read.Granularity)
	lacks := func(c carbonara.Column) bool { return !slices.Contains(r.kept.Columns, c) }
	if r.plan != nil && (r.plan != h.Plan() || slices.ContainsFunc(read.Columns, lacks)) {
		r.empty()
	}
	if r.plan != nil && read.To <= r.from {
		return false, nil
	}
	rows := min(mostRecent, v.recent.limit/recentShare/(8*(1+len(h.Plan().Columns))))
	wanted := 1
	if read.From <= newest {
		wanted = int(min(carbonara.Timestamp(rows), (newest-read.From)/granularity+1))
	}
	r.widest = max(r.widest, wanted)
	past := read.To <= min(newest, r.touched())
	if past && r.plan == nil {
		return false, nil
	}
	if r.plan == nil || !past && wanted < rows && read.From < r.from {
		from := max(0, newest-carbonara.Timestamp(rows)*granularity)
		if wanted < rows {
			from = read.From
		}
		ok, err = v.fill(ctx, r, read, min(from, newest))
	} else if ok = true; r.taken < h.Pending() {
		ok, err = true, v.addNewPending(ctx, r)
	}
	defer v.recent.count(r)
	if err != nil || !ok {
		r.empty()
		return false, err
	}
	if n := r.groups.Len(); n > 2*r.widest+64 {
		r.groups.Delete(0, n-r.widest)
		r.from = r.groups.Starts[0]
	}
	return true, nil
}

func (r *recentGroups) empty() { r.plan, r.groups, r.taken = nil, carbonara.Groups{}, 0 }

// keep makes kept the plan of these columns and of those that reads of the head's plan asked for before.
func (r *recentGroups) keep(c *recentCache, columns []carbonara.Column) {
	single := r.head.Plan().Single(r.granularity)
	if r.kept != nil {
		columns = slices.DeleteFunc(slices.Concat(columns, r.kept.Columns), func(c carbonara.Column) bool {
			return !slices.Contains(single.Columns, c)
		})
		slices.Sort(columns)
		columns = slices.Compact(columns)
	}
	r.kept = c.planOf(single, columns)
}

// fill reads the groups that start at from or later. Where bytes do not decode, ok is false: every read is to tell.
func (v *View) fill(ctx context.Context, r *recentGroups, read *model.Read,
	from carbonara.Timestamp) (ok bool, err error) {
	h := r.head
	r.empty()
	r.keep(&v.recent, read.Columns)
	r.plan, r.from = h.Plan(), from
	r.groups.Reset(read.Granularity, r.kept.Columns)
	everything := model.Read{Metric: read.Metric, Granularity: read.Granularity, Columns: r.kept.Columns, From: from,
		To: carbonara.MaxTimestamp}
	// The kept groups are not charged to the request.
	corrupt, err := v.options.Store.KeptGroups(budget.Without(ctx), &everything, 0, &r.groups)
	if err != nil || corrupt > 0 {
		return false, err
	}
	if h.Pending() > 0 {
		err = v.addAllPending(ctx, r)
	}
	r.taken, r.last = h.Pending(), h.Newest()
	return true, err
}

// addAllPending puts the groups of all pending measures on top.
func (v *View) addAllPending(ctx context.Context, r *recentGroups) error {
	walk := v.options.Store.SingleWalk()
	window := heads.Window{J: r.granularity, Columns: r.kept.Columns, From: r.from, To: carbonara.MaxTimestamp}
	err := v.resampleHead(ctx, &walk, r.head, window, func(groups *carbonara.Groups, start carbonara.Timestamp,
		scratch *carbonara.Groups) {
		r.overlay(groups, start, scratch)
	})
	return errors.Join(err, walk.Close())
}

// overlay puts groups that start at start or later over those of r.
func (r *recentGroups) overlay(groups *carbonara.Groups, start carbonara.Timestamp, scratch *carbonara.Groups) {
	if from := groups.Search(max(start, r.from)); from > 0 {
		groups = new(groups.Slice(from, groups.Len()))
	}
	r.groups.Overlay(0, groups, scratch)
}

// addNewPending resamples the pending measures that are new: on top of the last group if they are later than all
// before, else from the start of the first group that they fall into, if all its measures are pending.
func (v *View) addNewPending(ctx context.Context, r *recentGroups) error {
	h := r.head
	b := v.options.Memory.get()
	defer v.options.Memory.put(b)
	b.batch.Reset(v.options.Memory.resampler)
	b.measures = h.AppendPending(b.measures[:0], r.taken)
	earliest := slices.MinFunc(b.measures, heads.ByTime).Timestamp
	start := earliest.Floor(r.groups.Granularity)
	b.row = r.continued(earliest, b.row)
	row := b.row
	base, hasBase := h.Base()
	if len(row) == 0 && hasBase && start <= base.Timestamp {
		if err := v.addAllPending(ctx, r); err != nil {
			return err
		}
		r.taken, r.last = h.Pending(), h.Newest()
		return nil
	}
	series := carbonara.Series{Plan: r.kept}
	if len(row) > 0 {
		start = 0
		series.Previous, series.HasPrevious, series.Open = r.last, true, row
	} else {
		series.Previous, series.HasPrevious = base, hasBase
		b.measures = slices.DeleteFunc(h.AppendPending(b.measures[:0], 0), func(m carbonara.Measure) bool {
			if m.Timestamp < start && (!series.HasPrevious || m.Timestamp >= series.Previous.Timestamp) {
				series.Previous, series.HasPrevious = m, true
			}
			return m.Timestamp < start
		})
	}
	b.measures = heads.SortArrivals(b.measures)
	b.batch.Grow(len(b.measures))
	for _, m := range b.measures {
		b.batch.Timestamps, b.batch.Values = append(b.batch.Timestamps, m.Timestamp), append(b.batch.Values, m.Value)
	}
	series.To = len(b.measures)
	b.batch.Series = append(b.batch.Series, series)
	if err := v.options.Memory.resampler.Resample(ctx, &b.batch, &b.result); err != nil {
		return err
	}
	r.overlay(b.result.Groups(0, 0), start, &b.overlay)
	r.taken, r.last = h.Pending(), h.Newest()
	return nil
}

// continued returns the row that measures from a timestamp on continue, in the memory of dst, an empty one if they do
// not continue the last one or it does not tell all: percentiles need all measures, a sum what its additions rounded
// away, which is not stored, and a column may be unknown.
func (r *recentGroups) continued(earliest carbonara.Timestamp, dst []float64) []float64 {
	dst = dst[:0]
	n := r.groups.Len()
	if !r.groups.Continues() || r.kept.HasPercentiles() ||
		r.groups.Starts[n-1] != r.last.Timestamp.Floor(r.groups.Granularity) ||
		earliest <= r.last.Timestamp {
		return dst
	}
	row := r.groups.AppendOpen(dst)
	if slices.ContainsFunc(row, carbonara.IsAbsent) {
		return dst
	}
	return row
}

// checkpointed is called when pending measures become a checkpoint, which changes no group. The lock of the heads is
// held.
func (r *recentGroups) checkpointed() {
	if r.taken < r.head.Pending() {
		r.empty()
	}
	r.taken, r.last = 0, r.head.Newest()
}
