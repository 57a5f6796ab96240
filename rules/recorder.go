package rules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/util/annotations"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/postings"
	"github.com/gnocco-db/gnocco/query/promql"
)

const (
	cellsAtOnce  = 360              // in one range query
	workTimeout  = 10 * time.Minute // of one
	resultBefore = time.Millisecond // before its cell's time a measure is recorded
)

// work is some cells of a rule, multiples of step, to be evaluated and recorded.
type work struct {
	*Manager
	rule *Rule
	span
	cells
	now    time.Time
	sees   postings.Sees
	rights ingest.Rights
	policy *model.ArchivePolicy // of the results
	strays spans
	notes  annotations.Annotations
	said   string // of the evaluation, but for measures
}

// A column is the values of a series at the cells. absent stands for none.
type column []float64

// absent is a NaN that no computation gives.
var absent = math.Float64frombits(0x7ff4_0000_0000_0a11)

func isAbsent(v float64) bool { return math.Float64bits(v) == math.Float64bits(absent) }

// measure returns the time of a cell's measure.
func (w *work) measure(i int) carbonara.Timestamp { return w.at(i).Add(-resultBefore) }

// work evaluates and records the newest cells that are to do. An error is kept in the state, and work tries again.
func (m *Manager) work(ctx context.Context, r *Rule, now time.Time) {
	started := time.Now()
	account := m.options.Budget.Context(ctx)
	defer account.Close()
	bounded, cancel := context.WithTimeout(account, workTimeout)
	defer cancel()
	w := &work{Manager: m, rule: r, now: now}
	err := w.run(bounded)
	m.mu.Lock()
	defer m.mu.Unlock()
	r.last, r.took, r.fault = now, time.Since(started), ""
	if err != nil {
		if r.fault = err.Error(); r.atOnce == 1 && w.step == r.group.every() { // the others go on
			r.Todo, r.Failed, r.failedAt, r.failedBy = r.Todo.without(w.span), r.Failed.with(w.span), now, r.fault
		}
		r.atOnce = max(1, r.atOnce/2) // perhaps they were too many
		return
	}
	r.Todo, r.Strays = r.Todo.without(w.span), r.Strays.without(w.span)
	r.atOnce = min(cellsAtOnce, 2*r.atOnce)
	if r.Coarse = r.Coarse.without(w.span); w.said != "" {
		r.Coarse, r.Said = r.Coarse.with(w.span), w.said
	}
}

func (w *work) run(ctx context.Context) (err error) {
	r := w.rule
	if w.sees, w.rights, err = w.options.Rights(r.group.Owner); err != nil {
		return err
	}
	name := model.Labels(model.AppendLabel(nil, model.LabelName, r.Record))
	kind, _ := w.options.Writer.TypeOf(&model.Metric{Creator: r.group.Creator, Labels: name})
	if w.policy, err = w.options.Writer.Ingester.PolicyOfSeries(ctx, kind); err != nil {
		return err
	}
	if r.Todo[len(r.Todo)-1].From == 0 {
		if err := w.begin(ctx); err != nil {
			return err
		}
	}
	if w.choose(); w.n == 0 {
		return nil
	}
	found, err := w.evaluate(ctx)
	if err != nil {
		return err
	}
	warnings, infos := w.notes.AsStrings(r.Expr, 1, 1)
	w.said = strings.Join(append(warnings, infos...), "; ")
	return w.record(ctx, found)
}

// begin lets a history begin on the day on which the first of the inputs does, which it looks for in the year of that.
// Ranges of whole days that have ended are read from the coarsest groups. The last cell is evaluated in any case: an
// expression may need no inputs.
func (w *work) begin(ctx context.Context) error {
	const day, year = 24 * time.Hour, 364 * 24 * time.Hour
	r, last := w.rule, w.rule.Todo[len(w.rule.Todo)-1].To
	start, end := carbonara.Timestamp(0), last.Add(r.ahead).Floor(day)
	newest := min(last.Add(-r.group.every()), end.Add(-r.ahead))
	oldest := newest
	for _, step := range []time.Duration{year, day} {
		n := int(end-start) / int(step)
		w.cells = cells{end.Add(-time.Duration(n-1) * step), step, n}
		first := n
		for _, in := range r.inputs {
			count := fmt.Sprintf("count(count_over_time(%s[%ds]))", in.selector(), int(step.Seconds()))
			err := w.ask(ctx, count, w.sees, func(_ labels.Labels, values column) error {
				first = min(first, slices.IndexFunc(values, func(v float64) bool { return !isAbsent(v) }))
				return nil
			})
			if err != nil {
				return err
			}
		}
		if first == n {
			break
		}
		start, end = w.at(first-1), w.at(first)
		oldest = min(newest, start.Add(-r.ahead))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.Began > 0 { // earlier cells may have to go
		oldest = min(oldest, r.Began)
	}
	r.Began = max(1, oldest) // 0 stands for the beginning
	r.Todo = r.Todo.without(span{0, r.Began})
	r.History = r.Todo.cells(r.group.every())
	return nil
}

// choose takes the newest cells, while the group is paused only those that became due last. Cells older than the back
// window are corrected by whole groups.
func (w *work) choose() {
	w.mu.Lock()
	defer w.mu.Unlock()
	r, last := w.rule, w.rule.Todo[len(w.rule.Todo)-1]
	every := r.group.every()
	r.atOnce = cmp.Or(r.atOnce, cellsAtOnce)
	w.span = span{max(last.From, last.To.Floor(every).Add(-time.Duration(r.atOnce)*every)), last.To}
	if r.group.Paused {
		w.From = max(w.From, r.dueAfter)
	}
	if w.From < w.open() {
		block := max(w.policy.Plan().Coarsest(), every)
		w.From, w.To = w.From.Floor(block), max(w.To, min(w.To.Ceil(block), r.Next.Add(-every)))
	}
	w.cells, w.strays = w.every(every), r.Strays
}

// open returns since when measures of any age are pushed.
func (w *work) open() carbonara.Timestamp {
	return model.OldestAccepted(w.policy.Plan(), w.policy.BackWindow, carbonara.FromTime(w.now))
}

// ask calls use with the series of an expression at the cells.
func (w *work) ask(ctx context.Context, expr string, sees postings.Sees, use func(labels.Labels, column) error) (
	err error) {
	_, err = ask(ctx, w.options.Engine, &promql.Query{Expr: expr, Sees: sees}, w.cells, use)
	return err
}

// ask calls use with the series of a query at some cells.
func ask(ctx context.Context, e *promql.Engine, q *promql.Query, c cells, use func(labels.Labels, column) error) (
	annotations.Annotations, error) {
	query, err := e.Range(ctx, q, c.first.Time(), c.at(c.n-1).Time(), c.step)
	if err != nil {
		return nil, err
	}
	defer query.Close()
	result := query.Exec(ctx)
	matrix, err := result.Matrix()
	for i := 0; i < len(matrix) && err == nil; i++ {
		if len(matrix[i].Histograms) > 0 {
			return nil, errors.New("the expression gives native histograms, which are not recorded")
		}
		values := slices.Repeat(column{absent}, c.n)
		for _, p := range matrix[i].Floats {
			values[(carbonara.Timestamp(p.T)*1e6-c.first)/carbonara.Timestamp(c.step)] = p.F
		}
		err = use(matrix[i].Metric, values)
	}
	return result.Warnings, err
}

// evaluate returns the results, by their labels.
func (w *work) evaluate(ctx context.Context) (map[model.Labels]column, error) {
	r, found, counts := w.rule, map[model.Labels]column{}, make([]int, w.n)
	var builder labels.Builder
	var err error
	q := &promql.Query{Expr: r.Expr, Sees: w.sees, Origins: true}
	w.notes, err = ask(ctx, w.options.Engine.Over(w.shared), q, w.cells, func(l labels.Labels, values column) error {
		builder.Reset(l)
		builder.Set(model.LabelName, r.Record)
		for name, value := range r.Labels {
			builder.Set(name, value)
		}
		key := packed(builder.Labels())
		if found[key] == nil {
			found[key] = slices.Repeat(column{absent}, w.n)
		}
		for i, v := range values {
			if isAbsent(v) {
				continue
			} else if !isAbsent(found[key][i]) {
				return fmt.Errorf("two results have the same labels %s once the rule has set its own", builder.Labels())
			} else if counts[i]++; counts[i] > r.group.Limit && r.group.Limit > 0 {
				return fmt.Errorf("there are more results than the group's limit of %d", r.group.Limit)
			}
			found[key][i] = v
		}
		return nil
	})
	return found, err
}

// packed returns labels as the index has them.
func packed(l labels.Labels) model.Labels {
	var text []byte
	l.Range(func(one labels.Label) { text = model.AppendLabel(text, one.Name, one.Value) })
	return model.Labels(text)
}

// record records the values that differ from the recorded ones: by a push where measures of any age are accepted and
// none goes, else by a correction. Measures of another interval go.
func (w *work) record(ctx context.Context, found map[model.Labels]column) error {
	recorded, err := w.recorded(ctx)
	if err != nil {
		return err
	}
	var batch series.Batch
	var pushed, corrected []model.Labels
	for key := range recorded {
		if found[key] == nil {
			found[key] = slices.Repeat(column{absent}, w.n)
		}
	}
	for key, values := range found {
		was, first, goes := recorded[key], w.n, false
		for i, v := range values {
			strays := was != nil && w.strays.has(w.at(i))
			if was == nil && isAbsent(v) || was != nil && math.Float64bits(was[i]) == math.Float64bits(v) && !strays {
				continue
			}
			first, goes = min(first, i), goes || isAbsent(v) || strays
		}
		if first == w.n {
			continue
		}
		if goes || w.measure(first) < w.open() {
			corrected = append(corrected, key)
			if was != nil {
				continue
			}
			values = values[:first+1] // the metric has to be there, and accepts its first measure, however old
		}
		pushed = append(pushed, key)
		for i, v := range values[first:] {
			if !isAbsent(v) {
				_ = batch.Measure(w.measure(first+i), v) // no bound is set
			}
		}
		var l series.Labels
		for name, value := range key.All() {
			l.Set(name, value)
		}
		_ = batch.End(l)
	}
	if err := w.push(ctx, &batch, pushed); err != nil {
		return err
	}
	return w.correct(ctx, corrected, found, len(recorded) > 0)
}

// over returns an expression of the measures of series in the times that end with the query's.
func over(what, record string, length time.Duration) string {
	return fmt.Sprintf("%s_over_time({%s=%q}[%dms])", what, model.LabelName, record, length.Milliseconds())
}

// recorded returns the recorded values of the cells.
func (w *work) recorded(ctx context.Context) (found map[model.Labels]column, err error) {
	ids := w.rule.Series
	if len(ids) == 0 {
		return nil, nil
	}
	if err := w.options.Archives.Refresh(ctx, slices.Collect(maps.Keys(ids))); err != nil {
		return nil, err
	}
	found = map[model.Labels]column{}
	expr := over("last", w.rule.Record, w.step)
	own := func(c postings.Candidate) bool { return ids[c.Metric()] }
	err = w.ask(ctx, expr, own, func(l labels.Labels, values column) error {
		found[packed(l)] = values
		return nil
	})
	return found, err
}

// push stores a batch, and remembers the metrics of its series. Rules that read them find the measures.
func (w *work) push(ctx context.Context, batch *series.Batch, keys []model.Labels) error {
	if len(keys) == 0 {
		return nil
	}
	if err := budget.Of(ctx).Acquire(budget.Measures, int64(batch.Bytes())); err != nil {
		return err
	}
	creator := w.rule.group.Creator
	first, err := w.options.Writer.Append(ctx, &series.Push{Creator: creator, Rights: w.rights, Protocol: "rules",
		Rows: batch}, &batch.Named)
	if err = errors.Join(err, first); err != nil {
		return err
	}
	metrics, _, err := w.options.Index.MetricsOfLabels(ctx, creator, keys)
	var ids []uuid.UUID
	w.mu.Lock()
	for _, metric := range metrics {
		if metric != nil {
			w.rule.Series[metric.ID], ids = true, append(ids, metric.ID)
		}
	}
	w.mu.Unlock()
	if err == nil {
		err = w.options.Archives.Refresh(ctx, ids)
	}
	return err
}

// correct puts the found values in the place of the recorded ones, at any age. The ledger has it, unless the cells were
// empty.
func (w *work) correct(ctx context.Context, keys []model.Labels, found map[model.Labels]column, tell bool) error {
	if len(keys) == 0 {
		return nil
	}
	r := w.rule
	metrics, faults, err := w.options.Index.MetricsOfLabels(ctx, r.group.Creator, keys)
	if err = errors.Join(append(faults, err)...); err != nil {
		return err
	}
	from, to := w.From.Floor(w.step), w.at(w.n-1)
	replace := func() (all model.Replaced, err error) {
		for i, metric := range metrics {
			if metric == nil {
				continue // deleted meanwhile
			}
			what := &model.Replacement{From: from, To: to}
			for cell, v := range found[keys[i]] {
				if !isAbsent(v) {
					what.Timestamps, what.Values = append(what.Timestamps, w.measure(cell)), append(what.Values, v)
				}
			}
			done, fault := w.options.Archives.Replace(ctx, []uuid.UUID{metric.ID}, what)
			if all.Add(&done); fault == nil && done.Failed > 0 {
				fault = errors.New(done.Fault)
			}
			err = errors.Join(err, fault)
		}
		return all, err
	}
	if !tell {
		_, err = replace()
		return err
	}
	return ingest.WriteDown(ctx, w.options.Index, &model.LedgerEntry{Correction: true, Selector: r.Record, From: from,
		To: to, Who: "rule " + r.group.Name + "/" + r.Record, Reason: "inputs of the rule have changed"}, replace)
}
