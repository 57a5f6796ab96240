package query

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/anomaly"
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
	Staleness *Staleness          // how old the answer may be; nil: fresh
	asked     carbonara.Timestamp // the end of the window asked about, also in reads of earlier ones
}

// Before is when the window before begins.
func (r *ChangesRead) Before() carbonara.Timestamp { return r.From - (r.To - r.From) }

// Change is how a metric moved.
type Change struct {
	Metric        *model.Metric
	Granularity   time.Duration
	Score         float64               // relative to the window before, and to earlier days
	Before, After float64               // medians of the windows
	Usual         float64               // the median that After would be by the most similar day, or Before
	Onset         carbonara.Timestamp   // of the group at which it left its level
	Seasons       []carbonara.Timestamp // when the earlier windows begin that it was also compared with
	Series        int                   // metrics of its name that were compared
	Moved         int                   // those of them whose score is movedScore or more
	PerSecond     bool                  // of a counter: they are those of its rate
	Quantile      float64               // of a histogram, with Metric as a bucket: they are those of this; else 0

	windows *anomaly.Windows
	days    []*anomaly.Windows // of Seasons
}

// movedScore is the score from which on a metric counts as moved.
const movedScore = 2

// seasons are how much earlier windows are that changes are compared with. Three days before a Monday is no weekend.
var seasons = []time.Duration{24 * time.Hour, 48 * time.Hour, 72 * time.Hour, 7 * 24 * time.Hour, 14 * 24 * time.Hour}

// readsAtOnce and histogramsAtOnce are how many metrics and histograms are asked of other processes at once.
const readsAtOnce, histogramsAtOnce = 4096, 128

// Changes returns the metrics that moved most, the scores of all that moved, and how many were compared. Of a histogram
// it compares the rate of all measures and a quantile, and not each bucket.
func (r *Reader) Changes(ctx context.Context, read *ChangesRead) (
	changes []Change, moved map[uuid.UUID]float64, compared int, err error) {
	if read.TypeOf == nil {
		read.TypeOf = func(m *model.Metric) (model.SeriesType, model.TypeSource) { return model.TypeOf(m, nil) }
	}
	read.asked = read.To
	moved = make(map[uuid.UUID]float64)
	names := make(map[string]*Change, 64) // the largest change of each
	add := func(c *Change) {
		compared++
		if c.Series = 1; c.Score >= movedScore {
			c.Moved, moved[c.Metric.ID] = 1, max(c.Score, moved[c.Metric.ID])
		}
		name := c.Metric.SeriesName()
		if read.EachSeries || name == "" {
			if changes = append(changes, *c); len(changes) >= 2*read.Most+100 {
				slices.SortFunc(changes, largerChange)
				changes = changes[:read.Most] // the others cannot be among the largest
			}
			return
		}
		if largest := names[name]; largest != nil {
			c.Series, c.Moved = c.Series+largest.Series, c.Moved+largest.Moved
			if largerChange(*largest, *c) < 0 {
				largest.Series, largest.Moved = c.Series, c.Moved
				return
			}
		}
		names[name] = c
	}
	metrics, ways, histograms := read.comparable()
	kept := make([]*Change, len(metrics))
	for part := range slices.Chunk(runsOf(r.Archives, metrics), readsAtOnce/2/runLength) {
		if err := read.compareSeasons(part, kept, func(reads []*ChangesRead, runs [][]int32, add addChange) error {
			return r.compareRuns(ctx, reads, metrics, ways, runs, add)
		}, add); err != nil {
			return nil, nil, 0, err
		}
	}
	for part := range slices.Chunk(histograms, histogramsAtOnce) {
		each := make([][]int32, len(part))
		for i := range each {
			each[i] = []int32{int32(i)}
		}
		if err := read.compareSeasons(each, make([]*Change, len(part)), func(reads []*ChangesRead, runs [][]int32,
			add addChange) error {
			return r.compareHistograms(ctx, reads, part, runs, add)
		}, add); err != nil {
			return nil, nil, 0, err
		}
	}
	for _, change := range names {
		changes = append(changes, *change)
	}
	slices.SortFunc(changes, largerChange)
	return changes[:min(len(changes), read.Most)], moved, compared, nil
}

// addChange takes how a subject, by number, changed in the windows of a read. The calls for a subject come from one
// goroutine.
type addChange func(subject int32, of *ChangesRead, c *Change)

// compareSeasons compares subjects, which runs name by number: the window with the one before and with the same hours
// of the day before, in one pass over archives, then with those of earlier days, as long as that may change what is
// said of a subject. It keeps the runs. Changes has an element for each subject, nil before and after.
func (r *ChangesRead) compareSeasons(runs [][]int32, changes []*Change,
	compare func(reads []*ChangesRead, runs [][]int32, add addChange) error, add func(*Change)) error {
	all, reads := slices.Concat(runs...), []*ChangesRead{r}
	for _, season := range seasons {
		earlier := *r
		earlier.From, earlier.To = r.From.Add(-season), r.To.Add(-season)
		if earlier.Before() >= 0 {
			reads = append(reads, &earlier)
		}
	}
	atOnce := 2
	for days := 1; len(reads) > 0 && len(runs) > 0; days++ {
		pass := reads[:min(len(reads), atOnce)]
		reads, atOnce = reads[len(pass):], 1
		if err := compare(pass, runs, func(subject int32, of *ChangesRead, then *Change) {
			if of == r {
				changes[subject] = then
			} else if c := changes[subject]; c != nil && c.PerSecond == then.PerSecond {
				c.days, c.Seasons = append(c.days, then.windows), append(c.Seasons, of.From)
			}
		}); err != nil {
			return err
		}
		for i := range runs {
			runs[i] = slices.DeleteFunc(runs[i], func(subject int32) bool {
				c := changes[subject]
				return c == nil || !c.open(days)
			})
		}
		runs = slices.DeleteFunc(runs, func(run []int32) bool { return len(run) == 0 })
	}
	for _, subject := range all {
		if c := changes[subject]; c != nil {
			c.Score, c.Usual = c.windows.Unusual(c.days)
			add(c)
			changes[subject] = nil
		}
	}
	return nil
}

// open reports whether another day may change what is said of a metric, after so many. One that did not move since the
// hour before counts as moved only if it differs from each of these days.
func (c *Change) open(tried int) bool {
	return (c.Score >= movedScore || len(c.days) == tried) &&
		!slices.ContainsFunc(c.days, func(day *anomaly.Windows) bool { return c.windows.Since(day) < movedScore })
}

// A way is how a metric is compared.
type way struct {
	method                    carbonara.Method
	grows, unknown, histogram bool // its type
}

// comparable returns the metrics, each with its way, and the histograms that are compared, their buckets ascending.
func (r *ChangesRead) comparable() (operands []Operand, ways []way, histograms [][]bucket) {
	names := make(map[string]bool, 64)
	for _, metric := range r.Metrics {
		names[metric.SeriesName()] = true
	}
	byCommon := make(map[string][]bucket)
	for _, metric := range r.Metrics {
		if !metric.ArchivePolicy.Answers(r.Method) {
			continue
		}
		family, classic := strings.CutSuffix(metric.SeriesName(), "_bucket")
		counted := names[family+"_count"]
		w := r.wayOf(metric)
		b, common := bucketOf(metric)
		if common != "" && w.grows {
			byCommon[common] = append(byCommon[common], b)
		}
		all := classic && !counted && math.IsInf(b.upper, 1)
		if !w.histogram || (common == "" || all) && !(classic && counted) {
			operands, ways = append(operands, Operand{Metric: metric}), append(ways, w)
		}
	}
	histograms = slices.Collect(maps.Values(byCommon))
	for _, buckets := range histograms {
		slices.SortFunc(buckets, func(a, b bucket) int { return cmp.Compare(a.upper, b.upper) })
	}
	return operands, ways, histograms
}

// compareRuns compares the windows of operands, which runs name by number. It calls add from several goroutines.
func (r *Reader) compareRuns(ctx context.Context, windows []*ChangesRead, operands []Operand, ways []way,
	runs [][]int32, add addChange) error {
	var all []model.Read                      // of each operand those of all windows
	ends := make([]int, len(runs)+1)          // in all, of runs, from 1 on
	alike := make([]model.Read, len(windows)) // of operands of one policy and way
	var policy *model.ArchivePolicy
	var by way
	for i, run := range runs {
		for _, operand := range run {
			metric := operands[operand].Metric
			if metric.ArchivePolicy != policy || ways[operand] != by {
				policy, by = metric.ArchivePolicy, ways[operand]
				for j, of := range windows {
					alike[j] = ReadOf(metric, of.granularity(policy), by.method, of.Before(), of.To)
				}
			}
			for j := range alike {
				alike[j].Metric = metric
			}
			all = append(all, alike...)
		}
		ends[i+1] = len(all)
	}
	staleness := windows[0].Staleness
	archives, err := r.Archives.Prefetch(ctx, all, staleness)
	if err != nil {
		return err
	}
	return readAtOnce(ctx, len(runs), 1, readsPerWorker*len(runs)/max(1, len(all)),
		func(ctx context.Context, s *seriesReader, run, _ int) error {
			reads := all[ends[run]:ends[run+1]]
			return archives.EachGroups(ctx, reads, staleness, &s.groups, func(i int) error {
				operand, of := runs[run][i/len(windows)], windows[i%len(windows)]
				if change, ok := of.compare(ctx, s, &reads[i], ways[operand]); ok {
					add(operand, of, change)
				}
				return nil
			})
		})
}

// wayOf returns how a metric is compared.
func (r *ChangesRead) wayOf(metric *model.Metric) way {
	t, _ := r.TypeOf(metric)
	method, grows := metric.ComparedBy(r.Method, t)
	return way{method, grows, t == model.UnknownType, t == model.HistogramType}
}

// largerChange orders changes, the largest first. Equal ones it orders by ID: the answer must not depend on which was
// found first.
func largerChange(a, b Change) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), slices.Compare(a.Metric.ID[:], b.Metric.ID[:]))
}

func (r *ChangesRead) granularity(policy *model.ArchivePolicy) time.Duration {
	return anomaly.Granularity(policy, r.Before(), r.From, r.Now, r.asked)
}

// compare scores a metric by the groups of both windows, if there are enough.
func (r *ChangesRead) compare(ctx context.Context, s *seriesReader, of *model.Read, by way) (change *Change, ok bool) {
	budget.Of(ctx).Release(budget.Answers, int64(s.groups.Bytes()))
	var values []float64
	s.starts, values = s.groups.Aggregate(by.method, s.starts[:0], s.values[:0])
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
	grows := by.grows || by.unknown && by.method.IsLevel() && model.GrowsByValues(values, first)
	if grows {
		values, first = anomaly.Rates(starts, values, first, by.method == carbonara.Increase)
	}
	change = &Change{Metric: of.Metric, Granularity: of.Granularity, PerSecond: grows}
	return change, r.score(s, change, starts, values, first)
}

// score compares the values of two windows, the first so many of which are of the one before. ok is false if there are
// too few, or so large ones that they have no difference. Earlier days need no onset.
func (r *ChangesRead) score(s *seriesReader, c *Change, starts []carbonara.Timestamp, values []float64, first int) (
	ok bool) {
	if first < leastGroups || len(values)-first < leastGroups {
		return false
	}
	s.sorted = append(s.sorted[:0], values...)
	c.windows = anomaly.NewWindows(s.sorted[:first], s.sorted[first:])
	if c.Score = c.windows.Score(); r.To == r.asked {
		c.Onset = starts[c.windows.Onset(values)]
	}
	c.Before, c.After = c.windows.Medians()
	return c.Score <= math.MaxFloat64
}

// leastGroups is how many groups a window needs for its deciles to mean something.
const leastGroups = 5
