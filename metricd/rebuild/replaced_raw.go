package rebuild

import (
	"fmt"
	"slices"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/replica"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// replacedRaw is the raw series of an archive, with a replacement made.
type replacedRaw struct {
	timestamps []carbonara.Timestamp
	values     []float64
	end        archive.RawEnd      // as it was
	known      carbonara.Timestamp // all measures of groups that start here or later are in it; 0 if none is gone
	removed    int

	previousKnown bool // the measure before known, or its value, is there
}

// loadRaw reads the raw series and replaces its measures.
func (v *replacement) loadRaw() (*replacedRaw, error) {
	id, w := v.metric.ID, new(replacedRaw)
	timestamps, values, corrupt, err := v.o.Store.Raw(id, nil, nil)
	if err != nil {
		return nil, err
	}
	if corrupt > 0 {
		return nil, fmt.Errorf("metricd: raw series of %s: %w", id, storage.ErrCorrupt)
	}
	if v.metric.Replicas { // those that count now count forever
		timestamps, values = replica.Counting(timestamps, values)
	}
	if w.end, err = v.o.Store.RawEnd(id); err != nil {
		return nil, err
	}
	if w.known, err = v.knownFrom(&w.end, timestamps); err != nil {
		return nil, err
	}
	i, _ := slices.BinarySearch(timestamps, v.from)
	j, _ := slices.BinarySearch(timestamps, v.had.To)
	j = max(i, j)
	w.removed = j - i
	w.timestamps = slices.Concat(timestamps[:i], v.had.Timestamps, timestamps[j:])
	w.values = slices.Concat(values[:i], v.had.Values, values[j:])
	w.previousKnown = len(w.timestamps) > 0 && w.timestamps[0] < w.known
	return w, nil
}

// knownFrom returns the time from which on all measures of groups are in the raw series, 0 if none is gone. Groups that
// came from elsewhere never had theirs there.
func (v *replacement) knownFrom(end *archive.RawEnd, timestamps []carbonara.Timestamp) (carbonara.Timestamp, error) {
	if len(timestamps) > 0 && timestamps[0] < end.KeptFrom {
		return end.KeptFrom, nil
	}
	for _, g := range v.plan.Granularities {
		start, ok, err := v.o.Store.NextGroup(v.metric.ID, g, 0)
		if err != nil {
			return 0, err
		}
		if ok && (len(timestamps) == 0 || start < timestamps[0].Floor(g)) {
			switch {
			case end.KeptFrom > 0:
				return end.KeptFrom, nil
			case len(timestamps) > 0:
				return timestamps[0] + 1, nil
			}
			return carbonara.MaxTimestamp, nil
		}
	}
	return 0, nil
}

// newest returns the newest measure that is there, before or after, or the end of a group that may have a later one.
func (v *replacement) newest() (carbonara.Timestamp, error) {
	newest := v.end.Newest
	if n := len(v.had.Timestamps); n > 0 {
		newest = max(newest, v.had.Timestamps[n-1])
	}
	for _, g := range v.plan.Granularities {
		start, ok, err := v.o.Store.Newest(v.metric.ID, g)
		if err != nil {
			return 0, err
		}
		if ok && start > newest {
			newest = start.Add(g) - 1
		}
	}
	return newest, nil
}

// next returns the first measure of the raw series behind the range, -1 for none.
func (v *replacement) next() carbonara.Timestamp {
	if i, _ := slices.BinarySearch(v.timestamps, v.to); i < len(v.timestamps) {
		return v.timestamps[i]
	}
	return -1
}

// writeRaw writes the raw series, and what is left of unsettled measures.
func (v *replacement) writeRaw(c *archive.Checkpoint) error {
	if v.removed == 0 && len(v.had.Timestamps) == 0 {
		return nil
	}
	c.SetRaw(v.metric.ID, v.end.KeptFrom, v.present(), v.timestamps, v.values)
	if !v.o.KeepsUnsettled {
		return nil
	}
	kept, err := v.o.Store.Unsettled(v.metric.ID)
	if err != nil || kept == nil {
		return err
	}
	c.SetUnsettled(v.metric.ID, v.leftUnsettled(kept))
	return nil
}

// present returns the newest measure that is not ahead, MaxTimestamp if none is ahead.
func (v *replacement) present() carbonara.Timestamp {
	if v.end.Present == v.end.Newest {
		return carbonara.MaxTimestamp
	}
	present := v.end.Present
	if n := len(v.had.Timestamps); n > 0 {
		present = max(present, v.had.Timestamps[n-1])
	}
	if i, _ := slices.BinarySearch(v.timestamps, present+1); i > 0 {
		return v.timestamps[i-1]
	}
	return 0
}

// leftUnsettled leaves measures of the range out of unsettled ones. It returns nil if none is left.
func (v *replacement) leftUnsettled(kept *archive.Unsettled) *archive.Unsettled {
	gone := func(t carbonara.Timestamp) bool { return t >= v.from && t < v.had.To }
	unsettled := make(map[carbonara.Timestamp]bool)
	left := &archive.Unsettled{Newest: kept.Newest, Any: kept.Any}
	for _, run := range kept.Runs {
		if run.Timestamps = slices.DeleteFunc(run.Timestamps, gone); len(run.Timestamps) == 0 {
			continue
		}
		left.Runs = append(left.Runs, run)
		for _, t := range run.Timestamps {
			unsettled[t] = true
		}
	}
	if len(left.Runs) == 0 {
		return nil
	}
	if kept.Any && gone(kept.Newest) {
		left.Newest, left.Any = 0, false
		for _, t := range v.timestamps {
			if t <= kept.Newest && !unsettled[t] {
				left.Newest, left.Any = t, true
			}
		}
	}
	return left
}

// placePrevious puts a measure before known where the one that was there is gone and groups are left before the range.
// Without it the raw series would say that it has all measures that ever were. Its time is the start of the last group
// that is left, its value that group's last one, if the archive has that.
func (v *replacement) placePrevious() error {
	var last carbonara.Groups
	for j, g := range v.plan.Granularities {
		e := &v.edits[j]
		var row carbonara.Groups
		row.Reset(g, v.plan.Columns)
		if n := e.put.Search(v.from); n > 0 {
			row.AppendRows(&e.put, n-1, n)
		} else if err := v.o.Store.LastGroup(v.metric.ID, e.from, &row); err != nil {
			return err
		}
		if row.Len() > 0 && (last.Len() == 0 || row.Starts[0] > last.Starts[0]) {
			last = row
		}
	}
	if v.older = last.Len() > 0; !v.older || v.previousKnown || v.known == 0 || last.Starts[0] >= v.end.KeptFrom {
		return nil
	}
	value := nan
	if column := last.Column(carbonara.ColumnLast); column != nil && !carbonara.IsAbsent(column[0]) {
		value, v.previousKnown = column[0], true
	}
	v.timestamps = slices.Insert(v.timestamps, 0, last.Starts[0])
	v.values = slices.Insert(v.values, 0, value)
	return nil
}
