package rebuild

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// Fill puts measures, or groups, of any age into the blocks of an archive that hold nothing. A block is a period of the
// coarsest granularity, so that each of its groups is computed from the measures that come for it. A block that the
// archive has already, equal to the last bit, is known: a repetition changes nothing. Any other one is refused, all of
// it, since its raw measures may be gone. docs/decisions/0082-backfill.md.
//
// One call handles the blocks up to the next one that holds something, or that one. It adds their changes to c and
// returns what is left to do, nil for nothing.
func Fill(ctx context.Context, o *Options, metric *model.Metric, r *model.Replacement, c *archive.Checkpoint) (
	done model.Replaced, rest *model.Replacement, err error) {
	f := filling{replacement: replacement{replacedRaw: new(replacedRaw), o: o, metric: metric, had: r}}
	if err := f.load(); err != nil {
		return done, nil, err
	}
	block := f.plan.Coarsest()
	from := r.First().Floor(block)
	occupied, err := f.occupied(from)
	if err != nil {
		return done, nil, err
	}
	if from < occupied {
		some, rest := r.Before(occupied)
		some.From, some.To = from, some.Last().Floor(block).Add(block)
		rows := some.Rows()
		if some.Groups != nil {
			some.Timestamps, some.Values = lastOf(some.Groups)
		}
		done, err = Replace(ctx, o, metric, some, c)
		done.Put = rows
		return done, rest, err
	}
	some, rest := r.Before(from.Add(block))
	switch equal, err := f.isEqual(ctx, some, from, from.Add(block)); {
	case err != nil:
		return done, nil, err
	case equal:
		done.Known = some.Rows()
	case from >= f.closed && from.Add(block) <= f.settled:
		return done, nil, fmt.Errorf("%w: measures of metric %s are not settled yet", model.ErrUnavailable, metric.ID)
	default:
		done.Refused, done.RefusedBlocks = some.Rows(), []carbonara.Timestamp{from}
	}
	return done, rest, nil
}

// filling is a replacement where nothing is.
type filling struct {
	replacement
	closed  carbonara.Timestamp // groups are put only before it: the raw series tells those behind it
	settled carbonara.Timestamp // blocks from closed on and before it wait until measures are settled
}

// load finds the plan and the end of the raw series. The plan's blocks must not depend on one another.
func (f *filling) load() error {
	if err := f.loadPlan(); err != nil {
		return err
	}
	policy := f.metric.ArchivePolicy
	if f.plan.HasRate() {
		return model.Refused("archive policy %s has rate: methods, whose first difference in a block depends on "+
			"the block before; it takes no history", policy.Name)
	}
	for _, g := range f.plan.Granularities {
		if f.plan.Coarsest()%g != 0 {
			return model.Refused("granularity %v of archive policy %s does not divide %v; it takes no history", g,
				policy.Name, f.plan.Coarsest())
		}
	}
	var err error
	f.end, err = f.o.Store.RawEnd(f.metric.ID)
	if f.closed = carbonara.MaxTimestamp; f.had.Groups != nil && f.end.Any && f.end.Newest >= f.end.KeptFrom {
		f.closed, f.settled = f.end.KeptFrom, model.KeepFrom(f.plan, policy.BackWindow, f.end.Present)
	}
	return err
}

// occupied returns the start of the first block, from one on, that cannot be filled; MaxTimestamp for none. Expired
// groups do not count.
func (f *filling) occupied(from carbonara.Timestamp) (carbonara.Timestamp, error) {
	first := max(from, f.closed)
	for _, g := range f.plan.Granularities {
		at := from
		if timespan := f.metric.ArchivePolicy.Timespan(g); timespan > 0 {
			at = max(at, archive.OldestKept(f.end.Present.Floor(g), timespan))
		}
		start, ok, err := f.o.Store.NextGroup(f.metric.ID, g, at)
		if err != nil {
			return 0, err
		}
		if ok {
			first = min(first, start.Floor(f.plan.Coarsest()))
		}
	}
	return first, nil
}

// isEqual reports whether the archive has the groups of a block, from a time to another one, that r makes.
func (f *filling) isEqual(ctx context.Context, r *model.Replacement, from, to carbonara.Timestamp) (bool, error) {
	f.had = r
	if err := f.resample(ctx, &f.given, r.Timestamps, r.Values, 0); err != nil {
		return false, err
	}
	for j, g := range f.plan.Granularities {
		stored, err := f.stored(g, from, to)
		if err != nil {
			return false, err
		}
		given, first := f.givenGroups(j), 0
		if timespan := f.metric.ArchivePolicy.Timespan(g); timespan > 0 {
			oldest := archive.OldestKept(f.end.Present.Floor(g), timespan)
			stored.Delete(0, stored.Search(oldest))
			first = given.Search(oldest)
		}
		if !slices.Equal(stored.Starts, given.Starts[first:]) {
			return false, nil
		}
		for i, values := range stored.Values {
			for row, v := range values {
				if math.Float64bits(v) != math.Float64bits(given.Values[i][first+row]) {
					return false, nil
				}
			}
		}
	}
	return true, nil
}

// lastOf returns the measure that stands for those of the groups: the start of the last group, with its last value if
// that is known. Without it the raw series would say that it has all measures that ever were.
func lastOf(groups []carbonara.Groups) ([]carbonara.Timestamp, []float64) {
	at, value := carbonara.Timestamp(-1), nan
	for i := range groups {
		g := &groups[i]
		if n := g.Len(); n > 0 && g.Starts[n-1] > at {
			at, value = g.Starts[n-1], nan
			if !g.Unknown(n-1, carbonara.ColumnLast) {
				value = g.Column(carbonara.ColumnLast)[n-1]
			}
		}
	}
	return []carbonara.Timestamp{at}, []float64{value}
}

// givenGroups returns the groups of the j-th granularity that come in place.
func (v *replacement) givenGroups(j int) *carbonara.Groups {
	if v.had.Groups == nil {
		return v.given.Groups(0, j)
	}
	groups := new(carbonara.Groups)
	groups.Reset(v.plan.Granularities[j], v.plan.Columns)
	for i := range v.had.Groups {
		if g := &v.had.Groups[i]; g.Granularity == groups.Granularity {
			groups.AppendRows(g, 0, g.Len())
		}
	}
	return groups
}
