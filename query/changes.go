package query

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
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
	Score         float64               // the least of all comparisons
	Before, After float64               // medians of the windows
	Onset         carbonara.Timestamp   // of the group at which it left its level
	Seasons       []carbonara.Timestamp // when the earlier windows begin that it was also compared with
	Series        int                   // metrics of its name that were compared
	Moved         map[uuid.UUID]bool    // those of them whose score is movedScore or more
	PerSecond     bool                  // of a counter: they are those of its rate
	Quantile      float64               // of a histogram, with Metric as a bucket: they are those of this; else 0

	windows *anomaly.Windows
}

// movedScore is the score from which on a metric counts as moved, and is compared with earlier days.
const movedScore = 2

// seasons are how much earlier windows are that changes are compared with.
var seasons = []time.Duration{24 * time.Hour, 48 * time.Hour, 7 * 24 * time.Hour, 14 * 24 * time.Hour}

// readsAtOnce is how many metrics are asked of other processes at once.
const readsAtOnce = 4096

// Changes returns the metrics that moved most, and how many were compared. Of a histogram it compares the rate of all
// measures and a quantile, and not each bucket. Metrics that moved are compared with the same hour of earlier days as
// well, as far as archives go.
func (r *Reader) Changes(ctx context.Context, read *ChangesRead) (changes []Change, compared int, err error) {
	if read.TypeOf == nil {
		read.TypeOf = func(m *model.Metric) (model.SeriesType, model.TypeSource) { return model.TypeOf(m, nil) }
	}
	read.asked = read.To
	names := make(map[string]*Change, 64) // the largest change of each
	add := func(c Change) {
		if c.Series = 1; c.Score >= movedScore {
			c.Moved = map[uuid.UUID]bool{c.Metric.ID: true}
		}
		name := c.Metric.SeriesName()
		if read.EachSeries || name == "" {
			if changes = append(changes, c); len(changes) >= 2*read.Most+100 {
				slices.SortFunc(changes, largerChange)
				changes = changes[:read.Most] // the others cannot be among the largest
			}
			return
		}
		if largest := names[name]; largest != nil {
			if c.Series += largest.Series; largest.Moved == nil {
				largest.Moved = c.Moved
			}
			maps.Copy(largest.Moved, c.Moved)
			if c.Moved = largest.Moved; largerChange(*largest, c) < 0 {
				largest.Series = c.Series
				return
			}
		}
		names[name] = &c
	}
	var mu sync.Mutex
	moved := make(map[changeKey]*Change)
	metrics, histograms := read.comparable()
	if err := r.compareAll(ctx, read, metrics, histograms, func(c Change) {
		mu.Lock()
		defer mu.Unlock()
		if compared++; c.Score < movedScore {
			add(c)
			return
		}
		moved[c.key()] = &c
	}); err != nil {
		return nil, 0, err
	}
	for _, season := range seasons {
		earlier := *read
		if earlier.From, earlier.To = read.From.Add(-season), read.To.Add(-season); earlier.Before() < 0 {
			break
		}
		still := func(m *model.Metric, quantile float64) bool {
			c := moved[changeKey{m, quantile}]
			return c != nil && c.Score >= movedScore
		}
		metrics = slices.DeleteFunc(metrics, func(o Operand) bool { return !still(o.Metric, 0) })
		histograms = slices.DeleteFunc(histograms, func(b []bucket) bool {
			return !still(b[len(b)-1].metric, comparedQuantile)
		})
		if err := r.compareAll(ctx, &earlier, metrics, histograms, func(then Change) {
			mu.Lock()
			defer mu.Unlock()
			if c := moved[then.key()]; c.PerSecond == then.PerSecond {
				c.Score, c.Seasons = min(c.Score, c.windows.Since(then.windows)), append(c.Seasons, earlier.From)
			}
		}); err != nil {
			return nil, 0, err
		}
	}
	for _, c := range moved {
		add(*c)
	}
	for _, change := range names {
		changes = append(changes, *change)
	}
	slices.SortFunc(changes, largerChange)
	return changes[:min(len(changes), read.Most)], compared, nil
}

// changeKey is a metric, or a quantile of it.
type changeKey struct {
	*model.Metric
	quantile float64
}

func (c *Change) key() changeKey { return changeKey{c.Metric, c.Quantile} }

// comparable returns the metrics and the histograms that are compared.
func (r *ChangesRead) comparable() (operands []Operand, histograms [][]bucket) {
	names := make(map[string]bool, 64)
	for _, metric := range r.Metrics {
		names[metric.SeriesName()] = true
	}
	for _, metric := range r.Metrics {
		family, classic := strings.CutSuffix(metric.SeriesName(), "_bucket")
		counted := names[family+"_count"]
		b, common := bucketOf(metric)
		all := classic && !counted && math.IsInf(b.upper, 1)
		if t, _ := r.TypeOf(metric); t == model.HistogramType && (common != "" && !all || classic && counted) {
			continue
		}
		if metric.ArchivePolicy.Answers(r.Method) {
			operands = append(operands, Operand{Metric: metric})
		}
	}
	return operands, r.histograms()
}

// compareAll compares the windows of metrics and histograms. It calls add from several goroutines.
func (r *Reader) compareAll(ctx context.Context, read *ChangesRead, metrics []Operand, histograms [][]bucket,
	add func(Change)) error {
	for part := range slices.Chunk(runsOf(r.Archives, metrics), readsAtOnce/runLength) {
		if err := r.compareRuns(ctx, read, metrics, part, add); err != nil {
			return err
		}
	}
	return r.compareHistograms(ctx, read, histograms, add)
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
			granularity := read.granularity(metric.ArchivePolicy)
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

func (r *ChangesRead) granularity(policy *model.ArchivePolicy) time.Duration {
	return anomaly.Granularity(policy, r.Before(), r.From, r.Now, r.asked)
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
		values, first = anomaly.Rates(starts, values, first, method == carbonara.Increase)
	}
	if first < leastGroups || len(values)-first < leastGroups {
		return change, false
	}
	s.sorted = append(s.sorted[:0], values...)
	change.score(s.sorted[:first], s.sorted[first:])
	change.Onset = starts[change.windows.Onset(values)]
	return change, change.Score <= math.MaxFloat64 // else the values are so large that they have no difference
}

// score compares the values of two windows, which it sorts.
func (c *Change) score(before, after []float64) {
	c.windows = anomaly.NewWindows(before, after)
	c.Score = c.windows.Score()
	c.Before, c.After = c.windows.Medians()
}

// leastGroups is how many groups a window needs for its deciles to mean something.
const leastGroups = 5
