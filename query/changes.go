package query

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/model"
)

// ChangesRead is a request for the metrics that moved most from one window to the next, which is as long.
type ChangesRead struct {
	Metrics    []*model.Metric
	Method     carbonara.Method    // of metrics whose archive policy has it; others are left out
	From, To   carbonara.Timestamp // of the window; the one before ends where it begins
	Now        carbonara.Timestamp
	Most       int  // changes
	EachSeries bool // each metric has a change; else the strongest of those of one name
	// TypeOf decides the type of a metric; nil: model.TypeOf without metadata.
	TypeOf    func(*model.Metric) (model.SeriesType, model.TypeSource)
	Staleness *Staleness // how old the answer may be; nil: fresh
}

// Before is when the window before begins.
func (r *ChangesRead) Before() carbonara.Timestamp { return r.From - (r.To - r.From) }

// Change is how a metric moved.
type Change struct {
	Metric        *model.Metric
	Granularity   time.Duration
	Score         float64
	Before, After float64 // medians of the windows
	Series        int     // metrics of its name that were compared
	PerSecond     bool    // of a counter: they are those of its rate
	Quantile      float64 // of a histogram, with Metric as a bucket: they are those of this quantile; 0 for others
}

// readsAtOnce is how many metrics are asked of other processes at once.
const readsAtOnce = 4096

// Changes returns the metrics that moved most, by changeScore, and how many were compared. Of a histogram it compares
// the rate of all measures and a quantile, and not each bucket.
func (r *Reader) Changes(ctx context.Context, read *ChangesRead) (changes []Change, compared int, err error) {
	if read.TypeOf == nil {
		read.TypeOf = func(m *model.Metric) (model.SeriesType, model.TypeSource) { return model.TypeOf(m, nil) }
	}
	names := make(map[string]*Change, 64) // the largest change of each
	for _, metric := range read.Metrics {
		names[metric.SeriesName()] = nil
	}
	var operands []Operand
	for _, metric := range read.Metrics {
		family, classic := strings.CutSuffix(metric.SeriesName(), "_bucket")
		_, counted := names[family+"_count"]
		b, common := bucketOf(metric)
		all := classic && !counted && math.IsInf(b.upper, 1)
		if t, _ := read.TypeOf(metric); t == model.HistogramType && (common != "" && !all || classic && counted) {
			continue
		}
		if metric.ArchivePolicy.Answers(read.Method) {
			operands = append(operands, Operand{Metric: metric})
		}
	}
	var mu sync.Mutex
	add := func(change Change) {
		mu.Lock()
		defer mu.Unlock()
		compared++
		name := change.Metric.SeriesName()
		if change.Series = 1; read.EachSeries || name == "" {
			changes = keepLargest(changes, change, read.Most)
			return
		}
		if largest := names[name]; largest == nil {
			names[name] = &change
		} else if change.Series += largest.Series; largerChange(change, *largest) < 0 {
			names[name] = &change
		} else {
			largest.Series++
		}
	}
	for part := range slices.Chunk(runsOf(r.Archives, operands), readsAtOnce/runLength) {
		if err := r.compareRuns(ctx, read, operands, part, add); err != nil {
			return nil, 0, err
		}
	}
	if err := r.compareHistograms(ctx, read, add); err != nil {
		return nil, 0, err
	}
	for _, change := range names {
		if change != nil {
			changes = append(changes, *change)
		}
	}
	slices.SortFunc(changes, largerChange)
	return changes[:min(len(changes), read.Most)], compared, nil
}

// compareRuns compares the windows of operands, which runs name by number. It calls add from several goroutines.
func (r *Reader) compareRuns(ctx context.Context, read *ChangesRead, operands []Operand, runs [][]int32,
	add func(Change)) error {
	var all []model.Read
	byRun := make([][]model.Read, len(runs))
	for i, run := range runs {
		byRun[i] = make([]model.Read, len(run))
		for j, operand := range run {
			metric := operands[operand].Metric
			granularity := granularityToCompare(metric.ArchivePolicy, read)
			method, _ := read.methodOf(metric)
			byRun[i][j] = ReadOf(metric, granularity, method, read.Before(), read.To)
		}
		all = append(all, byRun[i]...)
	}
	archives, err := r.Archives.Prefetch(ctx, all, read.Staleness)
	if err != nil {
		return err
	}
	compareRun := func(ctx context.Context, s *seriesReader, run, _ int) error {
		return archives.EachGroups(ctx, byRun[run], read.Staleness, &s.groups, func(i int) error {
			if change, ok := read.compare(ctx, s, &byRun[run][i]); ok {
				add(change)
			}
			return nil
		})
	}
	return readAtOnce(ctx, len(runs), 1, readsPerWorker*len(runs)/max(1, len(all)), compareRun)
}

// methodOf returns the method by which a metric is compared: increases of a known counter, where its archive policy has
// them. Grows reports whether its type is one that grows.
func (r *ChangesRead) methodOf(metric *model.Metric) (m carbonara.Method, grows bool) {
	t, _ := r.TypeOf(metric)
	if grows = t.Grows() && r.Method.IsLevel(); grows && metric.ArchivePolicy.HasMethod(carbonara.Increase) {
		return carbonara.Increase, true
	}
	return r.Method, grows
}

// largerChange orders changes, the largest first. Equal ones it orders by ID: the answer must not depend on which was
// found first.
func largerChange(a, b Change) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), slices.Compare(a.Metric.ID[:], b.Metric.ID[:]))
}

// keepLargest adds a change, and drops what cannot be among the largest, now and then.
func keepLargest(changes []Change, added Change, most int) []Change {
	changes = append(changes, added)
	if len(changes) < 2*most+100 {
		return changes
	}
	slices.SortFunc(changes, largerChange)
	return changes[:most]
}

// groupsToCompare is how many groups a window has at least, if the archive policy has a granularity that is as fine.
const groupsToCompare = 20

// granularityToCompare returns the coarsest granularity that gives enough groups, of those that still have the window
// before; else the finest of these, else the finest of all.
func granularityToCompare(policy *model.ArchivePolicy, read *ChangesRead) time.Duration {
	all := slices.Sorted(slices.Values(policy.Granularities()))
	kept := slices.DeleteFunc(slices.Clone(all), func(g time.Duration) bool {
		timespan := policy.Timespan(g)
		return timespan > 0 && read.Before() < read.Now-carbonara.Timestamp(timespan)
	})
	if len(kept) == 0 {
		return all[0]
	}
	chosen := kept[0]
	for _, g := range kept {
		if time.Duration(read.To-read.From) >= groupsToCompare*g {
			chosen = g
		}
	}
	return chosen
}

// compare scores a metric by the groups of both windows, if there are enough.
func (r *ChangesRead) compare(ctx context.Context, s *seriesReader, of *model.Read) (change Change, ok bool) {
	budget.Of(ctx).Release(budget.Answers, int64(s.groups.Bytes()))
	method, grows := r.methodOf(of.Metric)
	var values []float64
	s.starts, values = s.groups.Aggregate(method, s.starts[:0], s.values[:0])
	s.values = values
	n, first := 0, 0 // groups with a value, and those of the window before
	for i, start := range s.starts {
		if v := values[i]; start >= of.From && !math.IsNaN(v) && !math.IsInf(v, 0) {
			s.starts[n], values[n] = start, v
			if start < r.From {
				first = n + 1
			}
			n++
		}
	}
	starts, values := s.starts[:n], values[:n]
	change = Change{Metric: of.Metric, Granularity: of.Granularity, PerSecond: grows}
	if t, _ := r.TypeOf(of.Metric); t == model.UnknownType && method.IsLevel() {
		change.PerSecond = model.GrowsByValues(values, first)
	}
	if change.PerSecond {
		values, first = rates(starts, values, first, method == carbonara.Increase)
	}
	if first < leastGroups || len(values)-first < leastGroups {
		return change, false
	}
	before, after := decilesOf(values[:first]), decilesOf(values[first:])
	change.Score, change.Before, change.After = changeScore(&before, &after), before.median(), after.median()
	return change, change.Score <= math.MaxFloat64 // else the values are so large that they have no difference
}

// rates makes rates of a counter's values, or of its increases, but for the first group and those after a reset. first
// is how many belong to the window before.
func rates(starts []carbonara.Timestamp, values []float64, first int, increases bool) ([]float64, int) {
	n, before, last := 0, 0, 0.0
	for i, v := range values {
		step := v - last
		if last = v; increases {
			step = v
		}
		if i == 0 || step < 0 {
			continue
		}
		values[n] = step / time.Duration(starts[i]-starts[i-1]).Seconds()
		if n++; i < first {
			before = n
		}
	}
	return values[:n], before
}

// leastGroups is how many groups a window needs for its deciles to mean something.
const leastGroups = 5

// minSpread bounds the unit of a score from below, relative to the largest decile of both windows: a constant series
// has no spread.
const minSpread = 0.01

// deciles are the nine values that split others into ten parts of one size.
type deciles [9]float64

// decilesOf sorts values, one at least, and returns their deciles.
func decilesOf(values []float64) (d deciles) {
	slices.Sort(values)
	for i := range d {
		at := float64(float64(i+1) / 10 * float64(len(values)-1)) // not fused, as below
		low := int(at)
		high := min(low+1, len(values)-1)
		d[i] = values[low] + float64((at-float64(low))*(values[high]-values[low]))
	}
	return d
}

// median is the fifth decile.
func (d *deciles) median() float64 { return d[4] }

// changeScore is the mean distance between the deciles of two windows. Its unit is the spread of the first window: the
// standard deviation of the normal distribution that has the same outer deciles. Values in the outer tenth of a window
// do not count, however far off they are.
func changeScore(before, after *deciles) float64 {
	distance, largest := 0.0, 0.0
	for i := range before {
		distance += math.Abs(after[i]-before[i]) / float64(len(before))
		largest = max(largest, math.Abs(before[i]), math.Abs(after[i]))
	}
	if distance == 0 {
		return 0
	}
	const outer = 2.563 // standard deviations between the outer deciles
	return distance / max((before[8]-before[0])/outer, minSpread*largest)
}
