package metricd

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/metricd/heads"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// A backfill loads history that is older than a metric's back window. The history first goes into another metric of the
// same archive policy and sack, by the ordinary way in, which computes every group as for any metric. Backfill then
// moves its groups, block by block. A block that the metric has no measure in is moved as a whole. A block that the
// metric has, equally, is done already. Any other block is refused, all of it: its raw measures are gone, so that
// neither their combination nor the absence of duplicates can be known. docs/decisions/0082-backfill.md

// backfillGroups is how many groups of the finest granularity a step reads at most: until its end the sack's measures
// wait.
const backfillGroups = 64 << 10

// Backfill makes one step: it moves groups of metric from into metric to, those from a time on, and says where the next
// step begins. Both must be in one sack, which must be held; the error is a model.BackfillError for metrics of which it
// cannot be done. The step is durable, and repeating it changes nothing.
func (p *Metricd) Backfill(ctx context.Context, to, from uuid.UUID, at carbonara.Timestamp) (
	done model.Backfilled, err error) {
	s, err := p.sackOf(to)
	if err != nil {
		return done, err
	}
	if p.Sack(from) != s.number {
		return done, model.BackfillRefused("metrics %s and %s are in different sacks", to, from)
	}
	if err := p.slots.Acquire(ctx, 1); err != nil {
		return done, err
	}
	defer p.slots.Release(1)
	done, err = s.backfill(ctx, to, from, at)
	return done, s.error(err)
}

func (s *sack) backfill(ctx context.Context, to, from uuid.UUID, at carbonara.Timestamp) (
	done model.Backfilled, err error) {
	s.work.Lock()
	defer s.work.Unlock()
	if s.view.IsClosed() {
		return done, notOwned(s.number)
	}
	h, err := s.backfilled(ctx, to, from)
	if err != nil {
		return done, err
	}
	w := backfillWindow{sack: s, head: h, from: from, limit: h.Kept()}
	if !h.IsSettled() {
		w.settledLimit = model.KeepFrom(h.Plan(), h.BackWindow(), h.Present())
	}
	coarsest := h.Plan().Coarsest()
	at, ok, err := w.next(at.Floor(coarsest))
	if err != nil || !ok {
		return done, err
	}
	w.at = at.Floor(coarsest)
	w.end = w.at.Add(max(coarsest, coarsest*(backfillGroups*h.Plan().Granularities[0]/coarsest)))
	if err := w.read(); err != nil {
		return done, err
	}
	c := s.store.NewCheckpoint()
	defer c.Close()
	for block := w.at; block < w.end; block = block.Add(coarsest) {
		w.move(c, block, block.Add(coarsest), &done)
	}
	if w.waits {
		return model.Backfilled{}, fmt.Errorf("%w: measures of metric %s are not settled yet", model.ErrUnavailable, to)
	}
	if at, ok, err = w.next(w.end); err != nil {
		return done, err
	} else if ok {
		done.Next = at.Floor(coarsest)
	}
	if c.Groups() == 0 {
		return done, nil
	}
	if err := w.placePrevious(c); err != nil {
		return done, err
	}
	return done, s.view.Commit(c, func() { s.view.Forget(h) })
}

// backfilled returns the head of a metric that is backfilled from another one, with nothing pending in either. work is
// held.
func (s *sack) backfilled(ctx context.Context, to, from uuid.UUID) (*heads.Head, error) {
	generation := s.parent.options.Index.Generation()
	ids, found := []uuid.UUID{to, from}, make([]*model.Metric, 2)
	if err := s.parent.options.Index.Find(ctx, ids, found); err != nil {
		return nil, err
	}
	for i, m := range found {
		if m == nil {
			return nil, model.BackfillRefused("metric %s does not exist", ids[i])
		}
		if s.heads.IsDirty(m.ID) {
			if err := s.checkpointLocked(ctx); err != nil {
				return nil, err
			}
		}
		if !m.SchemaPending() {
			continue // an archive of imported groups may lack the narrow granularities
		}
		schema, err := s.store.Schema(m.ID)
		if err != nil {
			return nil, err
		}
		if len(schema) > 0 && !schema.Matches(m.ArchivePolicy.Plan()) {
			return nil, fmt.Errorf("%w: metric %s waits to be rebuilt", model.ErrUnavailable, m.ID)
		}
	}
	policy := found[0].ArchivePolicy
	if policy.Name != found[1].ArchivePolicy.Name {
		return nil, model.BackfillRefused("metrics %s and %s have different archive policies", to, from)
	}
	if err := policy.CanBackfill(); err != nil {
		return nil, err
	}
	if err := s.heads.Load(found[:1], generation); err != nil {
		return nil, err
	}
	s.heads.Follow(found[0])
	if s.hear(); s.heads.SettleStored(to) {
		if err := s.checkpointLocked(ctx); err != nil {
			return nil, err
		}
	}
	return s.heads.Get(to), nil
}

// backfillWindow is the groups of one step.
type backfillWindow struct {
	*sack
	head    *heads.Head
	from    uuid.UUID
	at, end carbonara.Timestamp
	limit   carbonara.Timestamp // the raw series is complete from here on: late measures compute groups anew from it
	// settledLimit is the limit once the measures are settled, 0 if they are. Blocks before it wait.
	settledLimit carbonara.Timestamp
	waits        bool

	had, more []carbonara.Groups // of the metric and of the other one, by granularity, without expired ones
	last      carbonara.Groups   // the last group that is moved
}

// next returns the start of the first group that is left to move, at a time or later. Empty stretches of any length
// take no steps.
func (w *backfillWindow) next(at carbonara.Timestamp) (first carbonara.Timestamp, ok bool, err error) {
	for _, g := range w.head.Plan().Granularities {
		start, found, err := w.store.NextGroup(w.from, g, w.kept(g, at))
		if err != nil {
			return 0, false, err
		}
		if found && (!ok || start < first) {
			first, ok = start, true
		}
	}
	return first, ok, nil
}

// kept returns the time from which on groups are kept, at least from.
func (w *backfillWindow) kept(granularity time.Duration, from carbonara.Timestamp) carbonara.Timestamp {
	if timespan := w.head.Timespan(granularity); timespan > 0 {
		return max(from, archive.OldestKept(w.head.Newest().Timestamp.Floor(granularity), timespan))
	}
	return from
}

// read reads the groups of both metrics.
func (w *backfillWindow) read() error {
	for _, g := range w.head.Plan().Granularities {
		kept := w.kept(g, w.at)
		for _, one := range []struct {
			metric uuid.UUID
			all    *[]carbonara.Groups
		}{{w.head.Metric().ID, &w.had}, {w.from, &w.more}} {
			var groups carbonara.Groups
			groups.Reset(g, w.head.Plan().Columns)
			corrupt, err := w.store.Groups(one.metric, g, kept, w.end, &groups)
			if err == nil && corrupt > 0 {
				err = fmt.Errorf("metricd: splits of %s: %w", one.metric, storage.ErrCorrupt)
			}
			if err != nil {
				return err
			}
			*one.all = append(*one.all, groups)
		}
	}
	return nil
}

// move puts the groups of one block into a checkpoint, unless the metric has measures there.
func (w *backfillWindow) move(c *archive.Checkpoint, block, end carbonara.Timestamp, done *model.Backfilled) {
	var puts []carbonara.Groups
	occupied, equal := false, true
	for j := range w.more {
		had, more := groupsBetween(&w.had[j], block, end), groupsBetween(&w.more[j], block, end)
		occupied = occupied || had.Len() > 0
		equal = equal && sameGroups(&had, &more)
		if more.Len() > 0 {
			puts = append(puts, more)
		}
	}
	switch {
	case len(puts) == 0:
	case occupied && equal:
		done.Known++
	case !occupied && end > w.limit && end <= w.settledLimit:
		w.waits = true
	case occupied || end > w.limit:
		done.Refused = append(done.Refused, block)
	default:
		done.Moved++
		for i := range puts {
			c.PutGroups(w.head.Metric().ID, &puts[i])
			last := puts[i].Slice(puts[i].Len()-1, puts[i].Len())
			if w.last.Len() == 0 || last.Starts[0] > w.last.Starts[0] {
				w.last = last
			}
		}
	}
}

// placePrevious puts a measure of the last group that is moved before the raw series, at its start, with its last
// value if the archive has that. Without it the raw series would say that it has all measures that ever were, and a
// rebuild would compute wider groups from it alone. Of the measures before its limit, a raw series keeps the last one.
func (w *backfillWindow) placePrevious(c *archive.Checkpoint) error {
	id := w.head.Metric().ID
	end, err := w.store.RawEnd(id)
	if err != nil || w.last.Starts[0] >= end.KeptFrom {
		return err
	}
	value, present := math.NaN(), end.Present
	if column := w.last.Column(carbonara.ColumnLast); column != nil && !carbonara.IsAbsent(column[0]) {
		value = column[0]
	}
	if present == end.Newest {
		present = carbonara.MaxTimestamp // no measure is ahead
	}
	c.AppendRawAhead(id, end.KeptFrom, present, []carbonara.Timestamp{w.last.Starts[0]}, []float64{value})
	return nil
}

// sameGroups reports whether two metrics have the same groups, to the last bit.
func sameGroups(a, b *carbonara.Groups) bool {
	return slices.Equal(a.Starts, b.Starts) && slices.EqualFunc(a.Values, b.Values, func(x, y []float64) bool {
		return slices.EqualFunc(x, y, func(v, w float64) bool { return math.Float64bits(v) == math.Float64bits(w) })
	})
}

// groupsBetween returns the groups that start in a period.
func groupsBetween(g *carbonara.Groups, from, to carbonara.Timestamp) carbonara.Groups {
	return g.Slice(g.Search(from), g.Search(to))
}
