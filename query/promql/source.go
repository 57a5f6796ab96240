package promql

import (
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
	policies map[string]*model.ArchivePolicy
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

func (s *source) LabelValues(ctx context.Context, name string, _ *storage.LabelHints, matchers ...*labels.Matcher) (
	[]string, annotations.Annotations, error) {
	values, err := s.engine.options.Series.Values(ctx, s.Sees, name, matchers)
	return values, nil, err
}

func (s *source) Select(ctx context.Context, sorted bool, hints *storage.SelectHints,
	matchers ...*labels.Matcher) storage.SeriesSet {
	sel := s.newSelection(hints)
	for _, m := range matchers {
		if done, ok := s.computed[m]; ok {
			return done.seriesSet()
		}
	}
	matchers, err := sel.prepare(matchers)
	var series []*series
	if err == nil {
		series, err = sel.find(ctx, sorted, matchers)
	}
	if err == nil {
		err = s.chargeSamples(ctx, int64(len(readFor(series))), sel.steps())
	}
	if err == nil {
		sel.ahead = &readAhead{series: series, read: make([]*iterator, len(series)), size: firstAhead,
			most: min(samplesAhead, int64(s.engine.options.MaxSamples/4))}
		err = sel.prefetch(ctx, readFor(series), series)
	}
	if err != nil {
		return storage.ErrSeriesSet(err)
	}
	set := &seriesSet{at: -1, notes: sel.notes, selection: sel}
	for _, one := range series {
		set.series = append(set.series, one)
	}
	return set
}

// seriesBytes is what a series takes of the memory of requests, until the query ends: its labels, twice as the engine
// changes them, its samples, and its text.
const seriesBytes = 1 << 10

// find returns the series that matchers select, in the order in which the engine goes through them.
func (sel *selection) find(ctx context.Context, sorted bool, matchers []*labels.Matcher) ([]*series, error) {
	var all []*series
	var memory []series
	var hashes []uint64
	var parts nativeFound
	single := postings.SelectsParts(matchers)
	s := sel.source
	archives := s.engine.options.Archives
	distinct, err := s.engine.options.Series.Each(ctx, s.Sees, seriesBytes, matchers, func(f *postings.Found) error {
		policy, labelsOf := s.policy(f.Policy()), f.Labels()
		text := f.Part()
		part, isPart := model.ParseHistogramPart(text)
		if isPart = isPart && !single; text != "" && !isPart {
			labelsOf = labels.NewBuilder(labelsOf).Set(model.LabelHistogram, text).Labels()
		}
		for _, method := range sel.methodsOf(policy) {
			r, err := sel.readingOf(readingKey{policy, method, isPart})
			if err != nil {
				return err
			}
			if r == nil {
				continue
			}
			shown := labelsOf
			if len(sel.methods) > 0 {
				shown = labels.NewBuilder(shown).Set(aggregationMatcher, method.String()).Labels()
			}
			if len(memory) == cap(memory) {
				memory = make([]series, 0, min(max(64, len(all)+len(parts.parts)), 4096))
			}
			id := f.ID()
			memory = append(memory, series{ctx: ctx, selection: sel, pushed: f.Pushed(), name: f.Name(), labels: shown,
				metric: model.Metric{ID: id, ArchivePolicy: policy}, reading: r, archives: archives,
				sack: archives.Sack(id)})
			one := &memory[len(memory)-1]
			one.choose()
			if isPart {
				one.joined, one.gauge = true, part.Gauge
				parts.parts = append(parts.parts, nativePart{part, one})
				parts.hashes = append(parts.hashes, shown.Hash())
				continue
			}
			all, hashes = append(all, one), append(hashes, shown.Hash())
		}
		return nil
	})
	if err == nil && len(parts.parts) > 0 {
		all, hashes, err = parts.join(all, hashes)
	}
	if err == nil && !distinct {
		err = requireDistinct(all, hashes)
	}
	if err != nil {
		return nil, err
	}
	all = sortSeries(all, sorted)
	for i, one := range all {
		one.place = i
	}
	return all, nil
}

// choose sets in which order granularities serve the series, if that is not known.
func (s *series) choose() {
	if r := s.reading; r.preferred == nil {
		r.preferred, r.step = s.preference(), stepOf(s.metric.ArchivePolicy.Granularities())
	}
}

// policy returns an archive policy by its name.
func (s *source) policy(name string) *model.ArchivePolicy {
	if s.policies[name] == nil {
		s.policies = map[string]*model.ArchivePolicy{}
		for _, p := range s.engine.options.Policies() {
			s.policies[p.Name] = p
		}
	}
	return s.policies[name]
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
func sortSeries(all []*series, byLabels bool) []*series {
	if byLabels {
		slices.SortFunc(all, func(a, b *series) int { return labels.Compare(a.labels, b.labels) })
		return all
	}
	return inOrder([][]*series{all}, func(s **series) int { return (*s).sack },
		func(a, b *series) int { return model.CompareIDs(a.metric.ID, b.metric.ID) })
}
