package metricd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/metricd/heads"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// scratch is the memory of one read.
type scratch struct {
	head     heads.Batch
	batch    carbonara.Batch
	result   carbonara.Result
	measures []carbonara.Measure
	raw      heads.Raw
	overlay  carbonara.Groups
	row      []float64
}

// Groups reads what is asked for, as far as the archive policy's timespan goes, into dst: the splits, and on top what
// the head adds.
func (p *Metricd) Groups(ctx context.Context, read model.Read, dst *carbonara.Groups) error {
	started := time.Now()
	defer func() { p.instruments.readSeconds.Observe(time.Since(started).Seconds()) }()
	dst.Reset(read.Granularity, read.Columns)
	s, err := p.sackOf(read.Metric.ID)
	if err != nil {
		return err
	}
	return s.error(s.groups(ctx, read, started, dst))
}

// EachGroups is Groups for many metrics of one sack, cheapest in the order of their IDs: it calls use after each read,
// with its number. An ErrNotOwned comes before the first. Use must not read: the sack is locked.
func (p *Metricd) EachGroups(ctx context.Context, reads []model.Read, dst *carbonara.Groups,
	use func(i int) error) error {
	s, err := p.sackOf(reads[0].Metric.ID)
	if err != nil {
		return err
	}
	s.catchUp(ctx)
	s.heads.RLock()
	defer s.heads.RUnlock()
	if s.closed {
		return s.error(notOwned(s.number))
	}
	walk := s.store.Walk()
	started := time.Now()
	for i := range reads {
		dst.Reset(reads[i].Granularity, reads[i].Columns)
		if err = s.error(s.groupsLocked(ctx, &walk, reads[i], started, dst)); err != nil {
			break
		}
		if err = use(i); err != nil {
			break
		}
	}
	mean := time.Since(started).Seconds() / float64(len(reads)) // a clock for each would be a part of it
	for range reads {
		p.instruments.readSeconds.Observe(mean)
	}
	return errors.Join(err, walk.Close())
}

func (s *sack) groups(ctx context.Context, read model.Read, now time.Time, dst *carbonara.Groups) error {
	s.catchUp(ctx)
	s.heads.RLock()
	defer s.heads.RUnlock()
	if s.closed {
		return notOwned(s.number)
	}
	walk := s.store.SingleWalk()
	return errors.Join(s.groupsLocked(ctx, &walk, read, now, dst), walk.Close())
}

// groupsLocked is groups, of what walk reads of the archive, with the lock of the heads held by reads.
func (s *sack) groupsLocked(ctx context.Context, walk *archive.Walk, read model.Read, now time.Time,
	dst *carbonara.Groups) error {
	h := s.heads.Of(read.Metric.ID)
	if read.Granularity == 0 {
		return s.rawMeasures(ctx, walk, h, read, dst)
	}
	policy := read.Metric.ArchivePolicy
	timespan := policy.Timespan(read.Granularity)
	if h != nil {
		if _, any := h.Newest(); any && timespan > 0 {
			read.From, timespan = max(read.From,
				archive.OldestKept(h.Present().Floor(read.Granularity), timespan)), 0
		}
		if ok, err := s.readRecent(ctx, h, &read, now, dst); ok || err != nil {
			return err
		}
		if !h.HasColumns(read.Columns) {
			read.ValueFilter = nil // the head's groups take from those below what it lacks
		}
	}
	corrupt, err := walk.KeptGroups(ctx, &read, timespan, dst)
	if err != nil {
		return err
	}
	s.parent.instruments.corrupt.Add(float64(corrupt))
	if h == nil || h.Pending() == 0 {
		return nil
	}
	if !slices.Contains(h.Plan().Granularities, read.Granularity) && policy.HasGranularity(read.Granularity) {
		return nil // not rebuilt yet
	}
	return s.overlayHead(ctx, h, read.Granularity, read.From, read.To, dst)
}

// resampledBytes is what the resampling of a measure takes: the measure, and its group.
const resampledBytes = 64

// overlayHead resamples the head's measures and puts the groups that lie in the range on top of those in dst.
func (s *sack) overlayHead(ctx context.Context, h *heads.Head, granularity time.Duration, from, to carbonara.Timestamp,
	dst *carbonara.Groups) error {
	j := slices.Index(h.Plan().Granularities, granularity)
	if j < 0 {
		return fmt.Errorf("metricd: metric %s has no granularity %v: %w", h.Metric().ID, granularity, model.ErrNotFound)
	}
	if to <= h.Earliest().Floor(granularity) {
		return nil
	}
	account, before := budget.Of(ctx), dst.Bytes()
	err := s.resampleHead(ctx, h, j, func(groups *carbonara.Groups, start carbonara.Timestamp,
		scratch *carbonara.Groups) {
		end := groups.Search(to)
		part := groups.Slice(min(end, groups.Search(max(from, start))), end)
		dst.Overlay(0, &part, scratch)
	})
	if err != nil {
		return err
	}
	return account.Take(budget.Answers, int64(dst.Bytes()-before))
}

// resampleHead calls use with the groups of the head's measures at the j-th granularity of its plan. Those that start
// before start lack measures. Scratch is memory.
func (s *sack) resampleHead(ctx context.Context, h *heads.Head, j int,
	use func(groups *carbonara.Groups, start carbonara.Timestamp, scratch *carbonara.Groups)) (err error) {
	account, bytes := budget.Of(ctx), int64(resampledBytes*h.Pending())
	if err := account.Take(budget.Answers, bytes); err != nil {
		return err
	}
	defer account.Give(budget.Answers, bytes)
	b := s.parent.reads.Get().(*scratch)
	defer s.parent.reads.Put(b)
	b.head.Reset(s.parent.reader)
	walk := s.store.SingleWalk()
	defer func() { err = errors.Join(err, walk.Close()) }()
	if err := b.head.AddSingle(h, &walk, j); err != nil {
		return err
	}
	s.parent.instruments.corrupt.Add(float64(b.head.Corrupt()))
	if err := b.head.Resample(ctx, s.parent.reader, s.parent.reader); err != nil {
		return err
	}
	groups, start := b.head.Groups()
	use(groups, start, &b.overlay)
	return nil
}
