package rules

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/util/annotations"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/postings"
	"github.com/gnocco-db/gnocco/query/promql"
	"github.com/gnocco-db/gnocco/query/promql/columns"
)

const (
	longestQuery = 16 << 10         // bytes of a query that rules may answer: each of its parts is printed
	unheardFor   = 3 * pollInterval // beyond it, changes may be unknown, and rules answer nothing
)

// normal returns an expression as text in which the order of matchers and labels makes no difference, and sorts them.
func normal(expr parser.Expr) string {
	byText := func(a, b *labels.Matcher) int { return cmp.Compare(a.String(), b.String()) }
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		switch n := node.(type) {
		case *parser.VectorSelector:
			slices.SortFunc(n.LabelMatchers, byText)
		case *parser.AggregateExpr:
			slices.Sort(n.Grouping)
		}
		return nil
	})
	return expr.String()
}

// answers reports whether the results of a rule without their name and the rule's labels are those of its expression:
// whether this is certain to give none of these labels.
func (r *Rule) answers(expr parser.Expr) bool {
	added := func(name string) bool { return name == model.LabelName || r.Labels[name] != "" }
	switch e := expr.(type) {
	case *parser.AggregateExpr:
		folds := !e.Op.IsAggregatorWithParam() || e.Op == parser.QUANTILE // the others have labels of their own
		return folds && (e.Without && len(r.Labels) == 0 || !e.Without && !slices.ContainsFunc(e.Grouping, added))
	case *parser.BinaryExpr:
		v := e.VectorMatching
		return len(r.Labels) == 0 && !e.Op.IsComparisonOperator() && !e.Op.IsSetOperator() &&
			(v == nil || !slices.ContainsFunc(append(v.Include, v.MatchingLabels...), added))
	case *parser.Call:
		return len(r.Labels) == 0 && slices.Contains([]string{"rate", "increase", "histogram_quantile"}, e.Func.Name)
	}
	return false
}

// Use lets a query read the results of the rules of those groups whose owners see the same series as the user.
func (m *Manager) Use(q *promql.Query, seesSame func(*Group) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.byExpr) == 0 || q.Granularity > 0 || q.Lookback > 0 || len(q.Expr) > longestQuery ||
		m.options.Now().Sub(m.polled) > unheardFor {
		return
	}
	q.Recorded = func(expr parser.Expr, at columns.Times) *promql.Recording {
		m.mu.Lock()
		defer m.mu.Unlock()
		for _, r := range m.byExpr[normal(expr)] {
			every := r.group.every()
			u := &use{Manager: m, rule: r, query: *q, cells: cells{carbonara.Timestamp(at.Start) * 1e6,
				cmp.Or(time.Duration(at.Step)*time.Millisecond, every), at.N}}
			if u.first.Floor(every) == u.first && u.step%every == 0 && seesSame(r.group) && u.choose() {
				return &promql.Recording{Name: r.group.Name + "/" + r.Record, Read: u.readOnce}
			}
		}
		return nil
	}
}

// use is the cells of a rule that a query asks for.
type use struct {
	*Manager
	rule  *Rule
	query promql.Query
	cells
	has     []bool            // by cell: it is read
	coarse  bool              // some were not evaluated from measures alone
	counted bool              // the groups of some cells may end with earlier ones: their counts tell
	found   map[string]column // by the labels' bytes
	labels  map[string]labels.Labels
}

// choose finds the cells that can be read, and reports whether there are any. mu is held.
func (u *use) choose() bool {
	r, kept := u.rule, map[*model.ArchivePolicy]func(carbonara.Timestamp) bool{}
	for id := range r.Series {
		if metric := u.options.Index.Lookup(id); metric != nil && kept[metric.ArchivePolicy] == nil {
			kept[metric.ArchivePolicy] = u.keeps(metric.ArchivePolicy)
		}
	}
	all := slices.Collect(maps.Values(kept))
	for i := range u.n {
		t := u.at(i)
		has := t > r.Began && t < r.Next && !r.Todo.has(t) && !r.Failed.has(t)
		for _, keeps := range all {
			has = has && keeps(t)
		}
		u.has, u.coarse = append(u.has, has), u.coarse || has && r.Coarse.has(t)
	}
	return slices.Contains(u.has, true)
}

// keeps returns a function that reports whether a cell can be read back under an archive policy: as a measure, or from
// a group whose count shows that it holds all of its cells.
func (u *use) keeps(p *model.ArchivePolicy) func(carbonara.Timestamp) bool {
	now, every, all := carbonara.FromTime(u.options.Now()), u.rule.group.every(), p.Granularities()
	measures := model.OldestAccepted(p.Plan(), p.BackWindow, now).Add(every)
	counts := p.HasMethod(carbonara.Last) && p.HasMethod(carbonara.Count)
	oldest := make([]carbonara.Timestamp, len(all))
	for i, g := range all {
		if timespan := p.Timespan(g); timespan > 0 {
			oldest[i] = now.Add(g + every - timespan)
		}
	}
	return func(t carbonara.Timestamp) bool {
		if p.SchemaPending || t >= measures {
			return !p.SchemaPending
		}
		for i, g := range all {
			if t >= oldest[i] {
				u.counted = u.counted || every%g != 0
				return every%g == 0 || counts && g%every == 0 && t.Floor(g) == t
			}
		}
		return false
	}
}

// readOnce is read, once for all queries that ask for the same cells at the same time: they see the same series, and
// change no points. If the one that reads for others fails, each of them reads.
func (u *use) readOnce(ctx context.Context) (upstream.Matrix, annotations.Annotations, error) {
	q := &u.query
	key := fmt.Sprintf("%p %p %t %t %d", u.rule, q.Staleness, q.Repeats, q.Origins, u.cells)
	read, err, shared := u.flights.Do(key, func() (any, error) {
		matrix, notes, err := u.read(ctx)
		return upstream.Result{Value: matrix, Warnings: notes}, err
	})
	if err != nil && shared {
		return u.read(ctx)
	}
	one := read.(upstream.Result)
	return slices.Clone(one.Value.(upstream.Matrix)), maps.Clone(one.Warnings), err
}

// read returns the results at all cells.
func (u *use) read(ctx context.Context) (matrix upstream.Matrix, notes annotations.Annotations, err error) {
	r, counts := u.rule, map[string]column{}
	u.mu.Lock()
	ids := maps.Clone(r.Series)
	if u.coarse {
		notes.Add(fmt.Errorf("%w: rule %s/%s recorded: %s", annotations.PromQLInfo, r.group.Name, r.Record, r.Said))
	}
	u.mu.Unlock()
	query := u.query
	query.Recorded, query.Origins, query.Sees = nil, false, func(c postings.Candidate) bool { return ids[c.Metric()] }
	u.found, u.labels = counts, map[string]labels.Labels{}
	if u.counted {
		_, err = u.take(ctx, &query, over("count", r.Record, r.group.every()), 0, u.n)
	}
	if u.found = map[string]column{}; err == nil {
		_, err = u.take(ctx, &query, over("last", r.Record, r.group.every()), 0, u.n)
	}
	for key, values := range u.found {
		for i, v := range values {
			single := !u.counted || isAbsent(v) || counts[key] != nil && math.Round(counts[key][i]*1e6) == 1e6
			u.has[i] = u.has[i] && single
		}
	}
	for from, to := 0, 0; from < u.n && err == nil; from = to {
		for to = from; to < u.n && u.has[to] == u.has[from]; to++ {
		}
		if u.has[from] {
			continue
		}
		for _, values := range u.found {
			copy(values[from:to], slices.Repeat(column{absent}, to-from))
		}
		query.Sees, query.Origins = u.query.Sees, u.query.Origins
		more, fault := u.take(ctx, &query, r.Expr, from, to)
		notes, err = notes.Merge(more), fault
	}
	for key, values := range u.found {
		one := upstream.Series{Metric: u.labels[key]}
		for i, v := range values {
			if !isAbsent(v) {
				one.Floats = append(one.Floats, upstream.FPoint{T: int64(u.at(i)) / 1e6, F: v})
			}
		}
		if len(one.Floats) > 0 {
			matrix = append(matrix, one)
		}
	}
	sort.Sort(matrix)
	return matrix, notes, err
}

// take sets found at the cells from one to another to the values of a query, without the labels that the rule adds.
func (u *use) take(ctx context.Context, q *promql.Query, expr string, from, to int) (annotations.Annotations, error) {
	added := append(slices.Collect(maps.Keys(u.rule.Labels)), model.LabelName)
	q.Expr = expr
	some := cells{u.at(from), u.step, to - from}
	return ask(ctx, u.options.Engine, q, some, func(l labels.Labels, values column) error {
		l = labels.NewBuilder(l).Del(added...).Labels()
		key := string(l.Bytes(nil))
		if u.found[key] == nil {
			u.labels[key], u.found[key] = l, slices.Repeat(column{absent}, u.n)
		}
		copy(u.found[key][from:], values)
		return nil
	})
}
