package rebuild

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/replica"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// archiveRebuild gives one metric's archive the schema of its archive policy. Aggregates that the archive has are kept.
// Missing ones are computed group by group: from all measures where the raw series has them, else from the group itself
// or narrower groups, else they stay unknown.
//
//	        known                          at                        newest
//	… ────────|─────────────────────────────|─────────────────────────|
//	  narrower groups' moments   raw series: all measures of each group
//	                                        |<- late measures may come ->
//
// A group that begins before known and ends after at takes the measures before at from narrower groups, and the others
// from the raw series. Its first part is kept as a partial group: with it, late measures can change the group.
// docs/decisions/0028-rebuild.md.
type archiveRebuild struct {
	store   *archive.Store
	plain   *carbonara.CPUResampler
	metric  *model.Metric
	plan    *carbonara.Plan // of its policy
	schema  archive.Schema  // of the archive so far
	earlier *archive.PartialGroups

	raw     carbonara.Packed
	bytes   []byte              // raw's
	kept    carbonara.Timestamp // the raw series is complete from here on
	known   carbonara.Timestamp // all measures of groups that start here or later are in it; 0 if none is gone
	at      carbonara.Timestamp // no measure from before this is taken any more
	present carbonara.Timestamp // the newest measure that is not ahead

	unsettled *archive.Unsettled // nil if all measures are settled

	whole func(j int) *carbonara.Groups // of all measures from known on, at the j-th granularity of plan
	fault error                         // what is corrupt

	*memory // while it is written
	partial *archive.PartialGroups
	since   []archive.Since // of the granularities of plan
	unknown model.UnknownGroups
}

// memory is used again for the next metric.
type memory struct {
	batch  carbonara.Batch
	result carbonara.Result // of some measures, on top of the partial groups

	fresh, stored, scratch, narrow, wide carbonara.Groups
}

// load prepares the rebuild of a metric's archive, whose schema is not the policy's.
func (v *archiveRebuild) load(o *Options, metric *model.Metric, schema archive.Schema, end archive.RawEnd) (err error) {
	*v = archiveRebuild{store: o.Store, plain: o.Plain, metric: metric,
		plan: metric.ArchivePolicy.Plan(), schema: schema, kept: end.KeptFrom, present: end.Present, raw: v.raw,
		bytes: v.bytes[:0]}
	if v.earlier, err = o.Store.PartialGroups(metric.ID); err != nil {
		return err
	}
	if o.KeepsUnsettled {
		if v.unsettled, err = o.Store.Unsettled(metric.ID); err != nil {
			return err
		}
	}
	if v.earlier != nil {
		for _, since := range v.earlier.Since {
			if slices.Contains(v.plan.Granularities, since.Granularity) && schema.Of(since.Granularity) != nil {
				v.since = append(v.since, since)
			}
		}
	}
	var corrupt int
	if v.bytes, corrupt, err = o.Store.Packed(metric.ID, &v.raw, v.bytes); err != nil {
		return err
	}
	if corrupt > 0 {
		return fmt.Errorf("metricd: raw series of %s: %w", metric.ID, storage.ErrCorrupt)
	}
	before := carbonara.Timestamp(0)
	if basis := v.basis(); basis != nil {
		before = basis.Before
	}
	v.at = model.CompleteFrom(schema.Plan(), v.kept, before)
	first, err := v.raw.Timestamp(0)
	if err == nil && first < v.kept { // the last of the removed ones always stays
		v.known = v.kept
	}
	if err == nil && metric.Replicas {
		err = v.loadCounting()
	}
	return err
}

// loadCounting leaves the measures of replicas that do not count out of the raw series.
func (v *archiveRebuild) loadCounting() error {
	timestamps, values, _, err := v.store.Raw(v.metric.ID, nil, nil)
	if err != nil {
		return err
	}
	timestamps, values = replica.Counting(timestamps, values)
	v.bytes = carbonara.AppendRaw(v.bytes[:0], v.kept, timestamps, values)
	return v.raw.Parse(v.bytes)
}

// checkpoint returns what changes the archive, given the groups of all measures. The caller commits or closes it.
func (v *archiveRebuild) checkpoint(ctx context.Context, memory *memory) (*archive.Checkpoint, error) {
	if v.fault != nil {
		return nil, v.fault
	}
	v.memory = memory
	c := v.store.NewCheckpoint()
	if err := v.write(ctx, c); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (v *archiveRebuild) write(ctx context.Context, c *archive.Checkpoint) error {
	if err := v.computePartial(ctx); err != nil {
		return err
	}
	if err := v.continuePartial(ctx); err != nil {
		return err
	}
	for j, g := range v.plan.Granularities {
		change := v.build
		if v.schema.Of(g) != nil {
			change = v.rewrite
		}
		if err := change(c, g, v.freshGroups(j)); err != nil {
			return err
		}
	}
	for _, item := range v.schema {
		if !slices.Contains(v.plan.Granularities, item.Granularity) {
			c.DropGranularity(v.metric.ID, item.Granularity)
		}
	}
	partial := &archive.PartialGroups{Since: v.since}
	if v.keepFrom() < v.kept {
		partial.Before, partial.Rows = v.at, v.partial.Rows
	} else if len(v.since) == 0 {
		partial = nil // late measures go where the raw series is complete, and nothing is missing
	}
	c.SetPartialGroups(v.metric.ID, partial)
	return nil
}

// keepFrom returns from where on the new schema needs raw measures.
func (v *archiveRebuild) keepFrom() carbonara.Timestamp {
	present := v.present
	if v.unsettled != nil {
		if !v.unsettled.Any {
			return 0
		}
		present = v.unsettled.Newest
	}
	return model.KeepFrom(v.plan, v.metric.ArchivePolicy.BackWindow, present)
}

// basis returns the partial groups that the archive continues so far, nil for none.
func (v *archiveRebuild) basis() *archive.PartialGroups {
	if v.earlier == nil || v.earlier.Before < v.kept || v.earlier.Before == 0 {
		return nil
	}
	return v.earlier
}

// series returns the raw measures from one time to another, packed.
func (v *archiveRebuild) series(plan *carbonara.Plan, from, to carbonara.Timestamp,
	open []float64) (s carbonara.Series, err error) {
	s = carbonara.Series{Plan: plan, Packed: &v.raw, Open: open, To: v.raw.Len()}
	if s.From, err = v.raw.Search(from); err != nil {
		return s, err
	}
	if to < carbonara.MaxTimestamp {
		if s.To, err = v.raw.Search(to); err != nil {
			return s, err
		}
	}
	if s.HasPrevious = s.From > 0; s.HasPrevious {
		s.Previous, err = v.raw.Measure(s.From - 1)
	}
	return s, err
}

// resample computes the groups of raw measures from one time to another into v.result.
func (v *archiveRebuild) resample(ctx context.Context, plan *carbonara.Plan, from, to carbonara.Timestamp,
	open []float64) error {
	s, err := v.series(plan, from, to, open)
	if err != nil {
		return err
	}
	v.batch.Series = append(v.batch.Series[:0], s)
	return v.plain.Resample(ctx, &v.batch, &v.result)
}

// continuePartial adds measures to the partial groups: it computes the groups that at falls into.
func (v *archiveRebuild) continuePartial(ctx context.Context) error {
	end := v.at
	for _, g := range v.plan.Granularities {
		end = max(end, v.at.Ceil(g))
	}
	if err := v.resample(ctx, v.plan, v.at, end, v.partial.Open(v.plan)); err != nil {
		return err
	}
	for j := range v.plan.Granularities {
		v.partial.MaskUnknown(v.result.Groups(0, j))
	}
	return nil
}

// freshGroups returns the groups of the plan's j-th granularity that can be computed from measures, alone or with
// partial groups, all columns. They are valid until the next call.
func (v *archiveRebuild) freshGroups(j int) *carbonara.Groups {
	g := v.plan.Granularities[j]
	fresh := &v.fresh
	fresh.Reset(g, v.plan.Columns)
	if start := v.at.Floor(g); start < v.at && start < v.known {
		if on := v.result.Groups(0, j); on.Len() > 0 && on.Starts[0] == start {
			fresh.Append(new(on.Slice(0, 1)))
		} else if row := v.partial.Row(g); row != nil {
			fresh.Append(row)
		}
	}
	all := v.whole(j)
	fresh.Append(new(all.Slice(all.Search(v.known), all.Len())))
	return fresh
}

// rewrite changes splits of a granularity that the archive has: those with columns that are gone from the policy, and
// those that fresh groups lie in.
func (v *archiveRebuild) rewrite(c *archive.Checkpoint, g time.Duration, fresh *carbonara.Groups) error {
	return v.store.EachSplit(v.metric.ID, g, func(key carbonara.SplitKey, columns []carbonara.Column,
		groups int) error {
		part := fresh.Slice(fresh.Search(key.Start), fresh.Search(key.End()))
		if part.Len() > 0 && part.Len() >= groups && key.Start >= v.known {
			c.ReplaceSplit(v.metric.ID, key, &part) // all its groups, of all their measures
			return nil
		}
		lacks := func(some, others []carbonara.Column) bool {
			return slices.ContainsFunc(others, func(c carbonara.Column) bool { return !slices.Contains(some, c) })
		}
		gone, added := lacks(v.plan.Columns, columns), lacks(columns, v.plan.Columns)
		if part.Len() == 0 && !gone && !added {
			return nil
		}
		filled, err := v.readInferred(&v.stored, v.plan.Columns, g, key.Start, key.End())
		if err != nil {
			return err
		}
		v.stored.Overlay(0, &part, &v.scratch)
		v.noteUnknown(&v.stored)
		if part.Len() > 0 || gone || filled > 0 {
			c.ReplaceSplit(v.metric.ID, key, &v.stored)
		}
		return nil
	})
}

// build writes all of a granularity that the archive does not have.
func (v *archiveRebuild) build(c *archive.Checkpoint, g time.Duration, fresh *carbonara.Groups) error {
	c.DropGranularity(v.metric.ID, g)
	oldest := carbonara.Timestamp(0)
	if timespan := v.metric.ArchivePolicy.Timespan(g); timespan > 0 {
		oldest = archive.OldestKept(v.present.Floor(g), timespan)
	}
	if v.known > 0 {
		if err := v.buildPast(c, g, oldest); err != nil {
			return err
		}
	}
	c.PutGroups(v.metric.ID, new(fresh.Slice(fresh.Search(oldest), fresh.Len())))
	return nil
}

// buildPast writes the groups that begin at oldest or later and before known, and end at at or before, from narrower
// ones.
func (v *archiveRebuild) buildPast(c *archive.Checkpoint, g time.Duration, oldest carbonara.Timestamp) error {
	source, err := v.source(g)
	if err != nil {
		return err
	}
	if source == nil {
		v.since = append(v.since, archive.Since{Granularity: g, From: v.known.Ceil(g)})
		return nil
	}
	to := min(v.at.Floor(g), v.known.Ceil(g))
	from := max(source.from, oldest.Ceil(g))
	v.since = append(v.since, archive.Since{Granularity: g, From: from})
	for from < to {
		end := min(to, source.window(from, g))
		columns := narrowerColumns(v.plan.Columns)
		if _, err := v.readInferred(&v.narrow, columns, source.granularity, from, end); err != nil {
			return err
		}
		if err := carbonara.Coarsen(&v.wide, &v.narrow, g); err != nil {
			return err
		}
		v.noteUnknown(&v.wide)
		c.PutGroups(v.metric.ID, &v.wide)
		from = end
	}
	return nil
}

// read sets dst to stored groups. A split that does not decode is an error: groups made of the rest would be wrong.
func (v *archiveRebuild) read(dst *carbonara.Groups, columns []carbonara.Column, g time.Duration, from,
	to carbonara.Timestamp) error {
	dst.Reset(g, columns)
	corrupt, err := v.store.Groups(v.metric.ID, g, from, to, dst)
	if err == nil && corrupt > 0 {
		err = fmt.Errorf("metricd: splits of %s: %w", v.metric.ID, storage.ErrCorrupt)
	}
	return err
}

// momentsOf returns the columns that an open group continues.
func momentsOf(columns []carbonara.Column) []carbonara.Column {
	return slices.DeleteFunc(slices.Clone(columns), func(c carbonara.Column) bool {
		return c.Percentile() > 0 || c.IsSketch()
	})
}

// narrowerColumns returns the columns that narrower groups tell.
func narrowerColumns(columns []carbonara.Column) []carbonara.Column {
	return slices.DeleteFunc(slices.Clone(columns), func(c carbonara.Column) bool { return c.Percentile() > 0 })
}
