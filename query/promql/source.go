package promql

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"

	"github.com/gnocco-db/gnocco/query/postings"
)

// source is what one query reads from. It implements storage.Queryable and storage.Querier.
type source struct {
	*Query
	engine *Engine
	now    time.Time

	longest  int64                         // ms: how far the engine looks back
	computed map[*labels.Matcher]*computed // what pipelines gave, by the matcher that stands for it
	older    olderGroups
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
	sortSeries(all, sorted)
	for i, one := range all {
		one.place = i
	}
	return all, nil
}

// seriesOf returns the series of metrics: one for each method by which a metric is read.
func (sel *selection) seriesOf(ctx context.Context, found []postings.Series) ([]*series, error) {
	archives := sel.source.engine.options.Archives
	all := make([]*series, 0, len(found))
	memory := make([]series, 0, len(found)) // of most
	hashes := make([]uint64, 0, len(found))
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
			if len(memory) == cap(memory) {
				memory = make([]series, 0, 64)
			}
			memory = append(memory, series{ctx: ctx, selection: sel, metric: metric, labels: shown, reading: r,
				archives: archives, sack: archives.Sack(metric.ID)})
			one := &memory[len(memory)-1]
			if r.preferred == nil {
				r.preferred, r.step = one.preference(), stepOf(metric.ArchivePolicy.Granularities())
			}
			all, hashes = append(all, one), append(hashes, shown.Hash())
		}
	}
	return all, requireDistinct(all, hashes)
}

// requireDistinct returns an error if two series have the same labels, whose hashes are given.
func requireDistinct(all []*series, hashes []uint64) error {
	sorted := slices.Clone(hashes)
	slices.Sort(sorted)
	if len(slices.Compact(sorted)) == len(all) {
		return nil
	}
	byHash := make(map[uint64]*series, len(all))
	for i, one := range all {
		if other := byHash[hashes[i]]; other != nil && labels.Equal(other.labels, one.labels) {
			return fmt.Errorf("metrics %s and %s have the same labels %s", other.metric.ID, one.metric.ID, one.labels)
		}
		byHash[hashes[i]] = one
	}
	return nil
}

// sortSeries sorts series by labels, or as they lie in archives. The engine adds values up in this order: every process
// is to give the same sums. Neighbours are read together.
func sortSeries(all []*series, byLabels bool) {
	if byLabels {
		slices.SortFunc(all, func(a, b *series) int { return labels.Compare(a.labels, b.labels) })
		return
	}
	type place struct {
		high, low uint64 // halves of the metric's ID
		series    *series
	}
	compare := func(a, b place) int { return cmp.Or(cmp.Compare(a.high, b.high), cmp.Compare(a.low, b.low)) }
	var next []int // by sack: where the next series goes
	for _, s := range all {
		for len(next) < s.sack+2 {
			next = append(next, 0)
		}
		next[s.sack+1]++
	}
	for sack := 1; sack < len(next); sack++ {
		next[sack] += next[sack-1]
	}
	places := make([]place, len(all))
	for _, s := range all {
		id := &s.metric.ID
		places[next[s.sack]] = place{binary.BigEndian.Uint64(id[:8]), binary.BigEndian.Uint64(id[8:]), s}
		next[s.sack]++
	}
	from := 0
	for _, to := range next { // series that were created together mostly lie in order
		if of := places[from:to]; !slices.IsSortedFunc(of, compare) {
			slices.SortStableFunc(of, compare)
		}
		from = to
	}
	for i := range places {
		all[i] = places[i].series
	}
}
