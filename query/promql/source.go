package promql

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/postings"
)

// source is what one query reads from. It implements storage.Queryable and storage.Querier.
type source struct {
	*Query
	engine *Engine
	now    time.Time

	longest  int64                         // ms: how far the engine looks back
	computed map[*labels.Matcher]*computed // what pipelines gave, by the matcher that stands for it
	memory
}

// Querier implements storage.Queryable.
func (s *source) Querier(int64, int64) (storage.Querier, error) { return s, nil }

// Close implements storage.Querier.
func (s *source) Close() error { return nil }

// LabelNames implements storage.Querier; the engine's function info asks for them.
func (s *source) LabelNames(ctx context.Context, _ *storage.LabelHints, matchers ...*labels.Matcher) (
	[]string, annotations.Annotations, error) {
	names, err := s.engine.options.Series.Names(ctx, s.Sees, matchers)
	return names, nil, err
}

// LabelValues implements storage.Querier.
func (s *source) LabelValues(ctx context.Context, name string, _ *storage.LabelHints, matchers ...*labels.Matcher) (
	[]string, annotations.Annotations, error) {
	values, err := s.engine.options.Series.Values(ctx, s.Sees, name, matchers)
	return values, nil, err
}

// Select implements storage.Querier.
func (s *source) Select(ctx context.Context, sorted bool, hints *storage.SelectHints,
	matchers ...*labels.Matcher) storage.SeriesSet {
	sel := s.newSelection(hints)
	for _, m := range matchers {
		if done, ok := s.computed[m]; ok {
			return &computedSet{computed: done, at: -1}
		}
	}
	series, err := sel.find(ctx, sorted, matchers)
	if err == nil {
		err = s.chargeSamples(ctx, int64(len(series)), sel.steps())
	}
	if err == nil {
		sel.ahead = newReadAhead(series, s.engine.options.MaxSamples)
		err = sel.prefetch(ctx, series)
	}
	if err != nil {
		return storage.ErrSeriesSet(err)
	}
	return &seriesSet{series: series, at: -1, notes: sel.notes}
}

// find returns the series that matchers select, in the order in which the engine goes through them.
func (sel *selection) find(ctx context.Context, sorted bool, matchers []*labels.Matcher) ([]*series, error) {
	matchers, err := sel.popPseudo(matchers)
	if err != nil {
		return nil, err
	}
	sel.selector = selectorText(matchers)
	s := sel.source
	found, err := s.engine.options.Series.Select(ctx, s.Sees, matchers...)
	if err != nil {
		return nil, err
	}
	all, err := sel.seriesOf(ctx, found)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b *series) int {
		if sorted {
			return labels.Compare(a.labels, b.labels)
		}
		// The engine adds values up in this order: every process is to give the same sums. Neighbours are read
		// together.
		return cmp.Or(cmp.Compare(a.sack, b.sack), model.CompareIDs(a.metric.ID, b.metric.ID))
	})
	for i, one := range all {
		one.place = i
	}
	return all, nil
}

// seriesOf returns the series of metrics: one for each method by which a metric is read.
func (sel *selection) seriesOf(ctx context.Context, found []postings.Series) ([]*series, error) {
	archives := sel.source.engine.options.Archives
	var all []*series
	byHash := make(map[uint64]*series, len(found))
	for i := range found {
		metric := found[i].Metric
		for _, method := range sel.methodsOf(metric.ArchivePolicy) {
			r, err := sel.readingOf(readingKey{metric.ArchivePolicy, method})
			if err != nil {
				return nil, err
			}
			if r == nil {
				continue
			}
			shown := found[i].Labels
			if len(sel.methods) > 0 {
				shown = labels.NewBuilder(shown).Set(aggregationMatcher, method.String()).Labels()
			}
			hash := shown.Hash()
			if other := byHash[hash]; other != nil && labels.Equal(other.labels, shown) {
				return nil, fmt.Errorf("metrics %s and %s have the same labels %s", other.metric.ID, metric.ID, shown)
			}
			one := &series{ctx: ctx, selection: sel, metric: metric, labels: shown, reading: r,
				archives: archives, sack: archives.Sack(metric.ID)}
			byHash[hash] = one
			all = append(all, one)
		}
	}
	return all, nil
}
