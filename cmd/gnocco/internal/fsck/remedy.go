package fsck

import (
	"context"
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// findRemedy computes what can be computed again of the groups that a loss took away.
func findRemedy(ctx context.Context, store *archive.Store, w *sackWalk, l *loss) error {
	f := &l.finding
	if f.Granularity == 0 || l.metric == nil || !l.metric.ArchivePolicy.HasGranularity(f.Granularity) {
		return nil
	}
	policy := l.metric.ArchivePolicy
	remedy := &Remedy{Lost: f.To}
	f.Remedy = remedy
	have := make(map[carbonara.Timestamp]bool) // starts of groups that need not be computed
	if l.value != nil {
		if err := intactStarts(l, have); err != nil {
			return err
		}
	}
	take := func(name string, groups *carbonara.Groups, complete carbonara.Timestamp) {
		if groups == nil || groups.Len() == 0 {
			return
		}
		f.narrow(groups.Starts[groups.Len()-1], policy.Timespan(f.Granularity))
		kept := &carbonara.Groups{}
		kept.Reset(f.Granularity, groups.Columns)
		for row, start := range groups.Starts {
			if start >= max(f.From, complete) && start < f.To && !have[start] {
				have[start] = true
				kept.Append(new(groups.Slice(row, row+1)))
			}
		}
		remedy.Lost = min(remedy.Lost, max(f.From, complete))
		if kept.Len() > 0 {
			l.recomputed = append(l.recomputed, kept)
			remedy.Sources = append(remedy.Sources, Source{name, kept.Len()})
		}
	}
	if raw := archive.RawKey(l.metric.ID); w.readable(raw, raw) {
		groups, complete, err := fromRaw(ctx, store, l.metric, f.Granularity)
		if err != nil {
			return err
		}
		take("raw series", groups, complete)
	}
	for _, g := range policy.Granularities() {
		first, last := carbonara.SplitKey{Granularity: g}, carbonara.SplitKey{Granularity: g,
			Start: carbonara.MaxTimestamp}
		if g >= f.Granularity || f.Granularity%g != 0 ||
			!w.readable(archive.SplitKey(l.metric.ID, first), archive.SplitKey(l.metric.ID, last)) {
			continue
		}
		groups, complete := fromFiner(store, l.metric, g, f.Granularity)
		sources := len(remedy.Sources)
		take("archive of granularity "+g.String(), groups, complete)
		remedy.Partial = remedy.Partial || len(remedy.Sources) > sources && policy.Plan().HasPercentiles()
	}
	return nil
}

// narrow makes the range of a loss as small as it can be, given the start of the metric's newest group: there is none
// behind it, and none that expired.
func (f *Finding) narrow(newest carbonara.Timestamp, timespan time.Duration) {
	f.To = min(f.To, newest.Add(f.Granularity))
	if kept := newest - min(newest, carbonara.Timestamp(timespan)); timespan > 0 {
		f.From = max(f.From, kept.Floor(f.Granularity))
	}
	f.From = min(f.From, f.To)
	f.Remedy.Lost = max(f.From, min(f.Remedy.Lost, f.To))
}

// intactStarts notes the groups that the intact operands of a damaged split hold.
func intactStarts(l *loss, have map[carbonara.Timestamp]bool) error {
	_, _, split, _ := archive.ParseKey(l.value.key)
	for _, operand := range l.value.intact {
		var groups carbonara.Groups
		groups.Reset(split.Granularity, nil)
		if err := carbonara.DecodeSplit(operand, split, nil, 0, carbonara.MaxTimestamp, &groups); err != nil {
			return err
		}
		for _, start := range groups.Starts {
			have[start] = true
		}
	}
	return nil
}

// fromRaw resamples a metric's raw series. Groups that start at complete or later are all there is of them. Nil groups
// mean that the raw series does not tell: it is absent, damaged or cannot be read.
func fromRaw(ctx context.Context, store *archive.Store, metric *model.Metric, granularity time.Duration) (
	groups *carbonara.Groups, complete carbonara.Timestamp, err error) {
	timestamps, values, corrupt, err := store.Raw(metric.ID, nil, nil)
	if err != nil || corrupt > 0 || len(timestamps) == 0 || metric.SchemaPending() {
		return nil, 0, nil // the schema of an archive that waits to be rebuilt is not that of its policy
	}
	end, err := store.RawEnd(metric.ID)
	if err != nil {
		return nil, 0, nil
	}
	plan := metric.ArchivePolicy.Plan()
	series := carbonara.Series{Plan: plan.Single(slices.Index(plan.Granularities, granularity)), To: len(timestamps)}
	if len(timestamps) > 1 && timestamps[0] < end.KeptFrom {
		// The first is the last of those that are gone: all behind it is there, and differences start from it.
		series.Previous, series.HasPrevious = carbonara.Measure{Timestamp: timestamps[0], Value: values[0]}, true
		timestamps, values = timestamps[1:], values[1:]
		series.To--
		complete = series.Previous.Timestamp.Floor(granularity).Add(granularity)
	}
	batch := &carbonara.Batch{Timestamps: timestamps, Values: values, Series: []carbonara.Series{series}}
	var result carbonara.Result
	if err := carbonara.NewCPUResampler(1).Resample(ctx, batch, &result); err != nil {
		return nil, 0, err
	}
	return result.Groups(0, 0), complete, nil
}

// fromFiner combines the groups of a finer granularity. Groups that start at complete or later are all there is of
// them. Nil means that they do not tell.
func fromFiner(store *archive.Store, metric *model.Metric, finer, granularity time.Duration) (
	combined *carbonara.Groups, complete carbonara.Timestamp) {
	var fine, groups carbonara.Groups
	fine.Reset(finer, metric.ArchivePolicy.Plan().Columns)
	corrupt, err := store.Groups(metric.ID, finer, 0, carbonara.MaxTimestamp, &fine)
	partial, partialErr := store.PartialGroups(metric.ID)
	if err != nil || partialErr != nil || corrupt > 0 || fine.Len() == 0 || metric.SchemaPending() {
		return nil, 0
	}
	if err := carbonara.Coarsen(&groups, &fine, granularity); err != nil {
		return nil, 0
	}
	first := fine.Starts[0]
	newest := fine.Starts[fine.Len()-1]
	// Groups before the first may have expired with the split before: then the first is the first of a split, or too
	// old itself.
	timespan := carbonara.Timestamp(metric.ArchivePolicy.Timespan(finer))
	tooOld := timespan > 0 && first <= newest-min(newest, timespan)
	firstOfSplit := first == carbonara.SplitKeyOf(first, finer).Start
	expired := tooOld || firstOfSplit || partial.SinceOf(finer) > 0
	switch {
	case !expired:
		return &groups, 0
	case first.Floor(granularity) < first:
		return &groups, first.Floor(granularity).Add(granularity)
	}
	return &groups, first
}
