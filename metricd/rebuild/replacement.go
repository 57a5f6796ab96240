package rebuild

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// replacement takes the measures of a range out of one archive, and puts others in their place. A group is changed by
// the first of these ways that serves:
//
//	all its measures are in the raw series    it is computed from those that are left
//	the range covers it                       it goes, or is computed from the measures in their place
//	narrower groups tell all its measures     it is made of those that are left
//	the range ends with its first moment      it stays: an end that is included is the beginning of a group by chance
//	otherwise                                 it goes, with its measures outside the range: it is lost
//
// docs/decisions/0097-taking-out.md.
type replacement struct {
	*replacedRaw
	o        *Options
	metric   *model.Metric
	plan     *carbonara.Plan
	from, to carbonara.Timestamp
	earlier  *archive.PartialGroups

	exact carbonara.Result // of the raw measures that are left, from known on or from the range on
	given carbonara.Result // of the measures in their place alone
	had   *model.Replacement
	edits []edit // by granularity of the plan
	done  model.Replaced
	older bool // a group from before the range is left
}

// edit says which groups of a granularity go, by their start, and which come.
type edit struct {
	from, to carbonara.Timestamp
	put      carbonara.Groups
	marks    carbonara.Groups // the group after these, if its first difference is another one now
}

// Replace adds a replacement in one archive to c. The metric's head has no pending measures.
func Replace(ctx context.Context, o *Options, metric *model.Metric, r *model.Replacement, c *archive.Checkpoint) (
	done model.Replaced, err error) {
	v := &replacement{o: o, metric: metric, had: r, from: r.From}
	if err := v.load(); err != nil || v.from >= v.to {
		return done, err
	}
	if err := v.compute(ctx); err != nil {
		return done, err
	}
	if v.from < v.known {
		if err := v.computeBefore(ctx); err != nil {
			return done, err
		}
	}
	return v.done, v.write(c)
}

// computeBefore finds out what the range leaves before the raw series begins, and what follows from it for differences.
func (v *replacement) computeBefore(ctx context.Context) error {
	if err := v.placePrevious(); err != nil || !v.plan.HasRate() {
		return err
	}
	if v.previousKnown {
		if err := v.compute(ctx); err != nil {
			return err
		}
	}
	return v.markRates()
}

// loadPlan finds the plan of the archive as it is.
func (v *replacement) loadPlan() error {
	v.plan = v.metric.ArchivePolicy.Plan()
	if !v.metric.SchemaPending() {
		return nil
	}
	schema, err := v.o.Store.Schema(v.metric.ID)
	if err == nil && len(schema) > 0 {
		v.plan = schema.Plan()
	}
	return err
}

// load reads the archive.
func (v *replacement) load() (err error) {
	if err := v.loadPlan(); err != nil {
		return err
	}
	if v.earlier, err = v.o.Store.PartialGroups(v.metric.ID); err != nil {
		return err
	}
	if v.replacedRaw, err = v.loadRaw(); err != nil {
		return err
	}
	if v.had.Groups != nil { // their measures are not in the raw series
		v.end.KeptFrom = max(v.end.KeptFrom, v.had.To)
		v.known = v.end.KeptFrom
	}
	newest, err := v.newest()
	if err != nil {
		return err
	}
	v.to = min(v.had.To, newest.Add(1))
	if v.known > 0 && v.from < v.known && len(v.had.Timestamps) > 0 && v.plan.HasRate() {
		return model.Refused("archive policy %s has rate: methods, and the raw measures of metric %s begin at %s; "+
			"earlier ones cannot be corrected", v.metric.ArchivePolicy.Name, v.metric.ID, v.known.Time().Format(time.RFC3339))
	}
	return nil
}

// compute finds out which groups go and come.
func (v *replacement) compute(ctx context.Context) error {
	if err := v.resample(ctx, &v.exact, v.timestamps, v.values, max(v.known, v.plan.StartOf(v.from))); err != nil {
		return err
	}
	if v.from < v.known && v.had.Groups == nil {
		if err := v.resample(ctx, &v.given, v.had.Timestamps, v.had.Values, 0); err != nil {
			return err
		}
	}
	v.edits, v.done = make([]edit, len(v.plan.Granularities)), model.Replaced{}
	for j := range v.plan.Granularities {
		if err := v.edit(j); err != nil {
			return err
		}
	}
	return nil
}

// resample computes the groups of measures from a time on. The measure before it begins the first difference.
func (v *replacement) resample(ctx context.Context, result *carbonara.Result, timestamps []carbonara.Timestamp,
	values []float64, from carbonara.Timestamp) error {
	i, _ := slices.BinarySearch(timestamps, from)
	s := carbonara.Series{Plan: v.plan, From: i, To: len(timestamps), HasPrevious: i > 0}
	if i > 0 {
		s.Previous = carbonara.Measure{Timestamp: timestamps[i-1], Value: values[i-1]}
	}
	return v.o.Plain.Resample(ctx, &carbonara.Batch{Timestamps: timestamps, Values: values,
		Series: []carbonara.Series{s}}, result)
}

// edit computes the j-th granularity. The narrower ones are computed.
func (v *replacement) edit(j int) error {
	g := v.plan.Granularities[j]
	e := &v.edits[j]
	e.from, e.to = v.from.Floor(g), v.to.Ceil(g)
	e.put.Reset(g, v.plan.Columns)
	e.marks.Reset(g, v.plan.Columns)
	covered := func(start carbonara.Timestamp) bool { return start >= v.from && start.Add(g) <= v.had.To }
	first, last := e.from, e.to-carbonara.Timestamp(g)
	if first < v.known && !covered(first) {
		if err := v.part(j, first); err != nil {
			return err
		}
	}
	if v.from < v.known {
		given := v.givenGroups(j)
		for i, start := range given.Starts {
			if start < v.known && covered(start) {
				e.put.AppendRows(given, i, i+1)
			}
		}
	}
	if last > first && last < v.known && !covered(last) {
		if err := v.part(j, last); err != nil {
			return err
		}
	}
	exact := v.exact.Groups(0, j)
	end := exact.Search(e.to)
	e.put.AppendRows(exact, exact.Search(max(v.known, e.from)), end)
	if next := v.next(); v.plan.HasRate() && next >= max(v.known, e.to) {
		e.marks.AppendRows(exact, end, end+1)
	}
	return nil
}

// part computes a group of which the range covers a part, and whose raw measures are gone.
func (v *replacement) part(j int, start carbonara.Timestamp) error {
	g, e := v.plan.Granularities[j], &v.edits[j]
	end := start.Add(g)
	had, err := v.stored(g, start, end)
	if err != nil {
		return err
	}
	if had.Len() == 0 {
		given := v.given.Groups(0, j)
		e.put.AppendRows(given, given.Search(start), given.Search(end))
		return nil
	}
	left, ok, err := v.narrower(j, had, end, nil, nil)
	if err != nil {
		return err
	}
	if ok {
		e.put.Append(left)
		return nil
	}
	if len(v.had.Timestamps) > 0 {
		return model.Refused("metric %s: the range covers a part of the group of %v at %s, whose raw measures "+
			"are gone", v.metric.ID, g, start.Time().Format(time.RFC3339))
	}
	if v.endsWithFirstMoment(start) {
		e.put.Append(had)
		return nil
	}
	v.done.LostGroups++
	v.done.Lost = append(v.done.Lost, model.LostGroup{Metric: v.metric.ID, Granularity: g, Start: start})
	return nil
}

// endsWithFirstMoment reports whether the range has only the first moment of a group.
func (v *replacement) endsWithFirstMoment(start carbonara.Timestamp) bool { return v.had.To == start+1 }

// narrower makes the group had of the j-th granularity, as far as it lies before end, of narrower ones that are left.
// ok is false if none tells all of its measures. rows are those of partial groups, before and after, of narrower
// granularities: they hold the measures of the last narrow group before end.
func (v *replacement) narrower(j int, had *carbonara.Groups, end carbonara.Timestamp,
	before, after *archive.PartialGroups) (left *carbonara.Groups, ok bool, err error) {
	start := had.Starts[0]
	for i, narrow := range v.plan.Granularities[:j] {
		if had.Granularity%narrow != 0 {
			continue
		}
		to := end.Floor(narrow)
		old, err := v.stored(narrow, start, to)
		if err != nil {
			return nil, false, err
		}
		kept := v.left(i, old, start, to)
		if to < end {
			appendRow(old, before, narrow)
			appendRow(kept, after, narrow)
		}
		wide, left := new(carbonara.Groups), new(carbonara.Groups)
		if err := carbonara.Coarsen(wide, old, had.Granularity); err != nil {
			return nil, false, err
		}
		if wide.Len() != 1 || wide.Column(carbonara.ColumnCount)[0] != had.Column(carbonara.ColumnCount)[0] {
			continue
		}
		return left, true, carbonara.Coarsen(left, kept, had.Granularity)
	}
	return nil, false, nil
}

// appendRow appends the row of a granularity, if there is one.
func appendRow(dst *carbonara.Groups, partial *archive.PartialGroups, g time.Duration) {
	if row := partial.Row(g); row != nil && (dst.Len() == 0 || dst.Starts[dst.Len()-1] < row.Starts[0]) {
		dst.Append(row)
	}
}

// left returns the groups of the i-th granularity that are left of stored ones in a range.
func (v *replacement) left(i int, stored *carbonara.Groups, from, to carbonara.Timestamp) *carbonara.Groups {
	e, kept := &v.edits[i], new(carbonara.Groups)
	kept.Reset(stored.Granularity, v.plan.Columns)
	kept.AppendRows(stored, 0, stored.Search(e.from))
	kept.AppendRows(&e.put, e.put.Search(from), e.put.Search(to))
	kept.AppendRows(stored, stored.Search(e.to), stored.Len())
	return kept
}

// stored reads groups as they were.
func (v *replacement) stored(g time.Duration, from, to carbonara.Timestamp) (*carbonara.Groups, error) {
	groups := new(carbonara.Groups)
	groups.Reset(g, v.plan.Columns)
	corrupt, err := v.o.Store.Groups(v.metric.ID, g, from, to, groups)
	if err == nil && corrupt > 0 {
		err = fmt.Errorf("metricd: splits of %s: %w", v.metric.ID, storage.ErrCorrupt)
	}
	return groups, err
}

// write puts all that changes into a checkpoint.
func (v *replacement) write(c *archive.Checkpoint) error {
	id := v.metric.ID
	for i := range v.edits {
		e := &v.edits[i]
		if timespan := v.metric.ArchivePolicy.Timespan(e.put.Granularity); timespan > 0 && len(v.had.Timestamps) > 0 {
			newest := min(v.present(), v.timestamps[len(v.timestamps)-1]).Floor(e.put.Granularity)
			e.put.Delete(0, e.put.Search(archive.OldestKept(newest, timespan)))
		}
		before, bytes, err := c.ReplaceGroups(id, e.from, e.to, &e.put)
		if err != nil {
			return err
		}
		if e.marks.Len() > 0 {
			c.PutGroups(id, &e.marks)
		}
		v.done.Before += before + e.marks.Len()
		v.done.After += e.put.Len() + e.marks.Len()
		v.done.Bytes += bytes
	}
	if v.done.Before+v.done.After+v.removed == 0 {
		return nil
	}
	v.done.Metrics, v.done.Measures = 1, v.removed
	if err := v.writeRaw(c); err != nil {
		return err
	}
	return v.writePartial(c)
}

// writePartial changes the partial groups, which hold measures of wide groups from before the raw series.
func (v *replacement) writePartial(c *archive.Checkpoint) error {
	had := v.earlier
	if had == nil || len(had.Rows) == 0 || v.from >= had.Before {
		return nil
	}
	is := &archive.PartialGroups{Before: had.Before, Since: had.Since}
	for j, g := range v.plan.Granularities {
		row := had.Row(g)
		if row == nil {
			continue
		}
		switch start := row.Starts[0]; {
		case v.to <= start, v.endsWithFirstMoment(start):
			is.Rows = append(is.Rows, *row)
			continue
		case len(v.had.Timestamps) > 0:
			return model.Refused("metric %s: the raw measures of the group of %v at %s are gone in part",
				v.metric.ID, g, start.Time().Format(time.RFC3339))
		case v.from <= start && had.Before <= v.to:
			continue
		}
		full := new(carbonara.Groups)
		full.Reset(g, v.plan.Columns)
		full.Append(row)
		left, ok, err := v.narrower(j, full, had.Before, had, is)
		if err != nil {
			return err
		}
		kept := carbonara.Groups{}
		kept.Reset(g, momentsOf(v.plan.Columns))
		switch {
		case !ok:
			kept.Append(&carbonara.Groups{Starts: row.Starts[:1]}) // all columns absent
		case left.Len() == 0:
			continue
		default:
			kept.Append(left)
		}
		is.Rows = append(is.Rows, kept)
	}
	c.SetPartialGroups(v.metric.ID, is)
	return nil
}

// markRates makes the differences across the range unknown: they begin at a measure that groups do not tell. The group
// that has it is the first one behind the range. Where a group reaches from before the range to behind it, narrower
// ones tell which that is.
func (v *replacement) markRates() error {
	behind := carbonara.Timestamp(-1)
	for j, g := range v.plan.Granularities {
		e := &v.edits[j]
		start, err := v.firstBehind(e)
		if err != nil {
			return err
		}
		if start >= 0 && start < v.from {
			if start = behind; start >= 0 {
				start = start.Floor(g)
			}
		}
		if behind = start; start < 0 {
			continue
		}
		if err := v.mark(e, start); err != nil {
			return err
		}
	}
	return nil
}

// firstBehind returns the start of the first group that is left and ends behind the range, -1 for none.
func (v *replacement) firstBehind(e *edit) (carbonara.Timestamp, error) {
	if i := e.put.Search(v.to.Floor(e.put.Granularity)); i < e.put.Len() {
		return e.put.Starts[i], nil
	}
	start, ok, err := v.o.Store.NextGroup(v.metric.ID, e.put.Granularity, e.to)
	if !ok {
		start = -1
	}
	return start, err
}

// mark makes the differences of a group unknown, unless it is computed from the right measure before it.
func (v *replacement) mark(e *edit, start carbonara.Timestamp) error {
	groups, row := &e.put, e.put.Search(start)
	if row == e.put.Len() || e.put.Starts[row] != start {
		if e.marks.Len() == 0 || e.marks.Starts[0] != start {
			stored, err := v.stored(e.put.Granularity, start, start+1)
			if err != nil {
				return err
			}
			e.marks = *stored
		}
		if groups, row = &e.marks, 0; groups.Len() == 0 {
			return nil
		}
	}
	if start < v.known || v.older && !v.previousKnown {
		forgetRates(groups, row)
	}
	return nil
}

// forgetRates makes the columns of differences absent in a row.
func forgetRates(groups *carbonara.Groups, row int) {
	for i, c := range groups.Columns {
		if c.IsRate() {
			groups.Values[i][row] = carbonara.Absent()
		}
	}
}

var nan = math.NaN()
