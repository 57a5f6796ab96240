package promql

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	common "github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/util/annotations"

	"gnocco/carbonara"
	"gnocco/model"
	"gnocco/query"
)

// source is what one query reads from. It implements storage.Queryable and storage.Querier.
type source struct {
	*Query
	engine *Engine
	now    time.Time

	longest int64 // ms: how far the engine looks back
	memory
}

// Querier implements storage.Queryable.
func (s *source) Querier(int64, int64) (storage.Querier, error) { return s, nil }

// Close implements storage.Querier.
func (s *source) Close() error { return nil }

// LabelNames implements storage.Querier; the engine's function info asks for them.
func (s *source) LabelNames(ctx context.Context, _ *storage.LabelHints, matchers ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	names, err := s.engine.options.Series.Names(ctx, s.Sees, matchers)
	return names, nil, err
}

// LabelValues implements storage.Querier.
func (s *source) LabelValues(ctx context.Context, name string, _ *storage.LabelHints, matchers ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	values, err := s.engine.options.Series.Values(ctx, s.Sees, name, matchers)
	return values, nil, err
}

// selection is what a selector asks of the series that it finds.
type selection struct {
	source      *source
	start, end  int64 // ms, of samples; both inclusive
	first, step int64 // ms: the first time of an evaluation, and how far apart they are; 0: one time
	length      int64 // ms, of a range; 0: a selector of instants
	function    string
	selector    string              // as the client wrote it, about
	offset      *int64              // of a selector in a subquery, whose times are multiples of step, before the offset
	method      carbonara.Method    // chosen by __aggregation__; 0: rule 6
	methods     []*labels.Matcher   // of __aggregation__, other than =: those that all match, each as a series
	percentile  carbonara.Method    // of quantile_over_time; 0: none
	granularity time.Duration       // chosen by __granularity__; 0: rule 3
	coarsest    time.Duration       // that may serve; 0: rule 3
	now         carbonara.Timestamp // no group ends later
	lookback    int64               // ms; 0: rule 5

	ahead   *readAhead
	current *iterator // the series through which the engine goes: it takes one after the other
	notes   annotations.Annotations
	known   map[readingKey]*reading
}

// readingKey is what a reading follows from.
type readingKey struct {
	policy *model.ArchivePolicy
	method carbonara.Method // 0: rule 6
}

// Select implements storage.Querier.
func (s *source) Select(ctx context.Context, sorted bool, hints *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	set, err := s.selectSeries(ctx, sorted, hints, matchers)
	if err != nil {
		return storage.ErrSeriesSet(err)
	}
	return set
}

func (s *source) selectSeries(ctx context.Context, sorted bool, hints *storage.SelectHints, matchers []*labels.Matcher) (storage.SeriesSet, error) {
	sel := &selection{source: s, start: hints.Start, end: hints.End, step: hints.Step, length: hints.Range, function: hints.Func,
		coarsest: s.Granularity, now: carbonara.FromTime(s.now), lookback: s.Lookback.Milliseconds(),
		known: map[readingKey]*reading{}}
	sel.first = hints.Start + hints.Range - 1
	if hints.Range == 0 {
		sel.first = hints.Start + s.longest - 1
		sel.function = "" // it is around something else than a range
	}
	matchers, err := sel.takePseudo(matchers)
	if err != nil {
		return nil, err
	}
	sel.selector = selectorText(matchers)
	found, err := s.engine.options.Series.Select(ctx, s.Sees, matchers...)
	if err != nil {
		return nil, err
	}
	archives := s.engine.options.Archives
	set := &seriesSet{at: -1}
	seen := make(map[uint64]int, len(found))
	for i := range found {
		f := &found[i]
		for _, method := range sel.methodsOf(f.Metric.ArchivePolicy) {
			r, err := sel.readingOf(readingKey{f.Metric.ArchivePolicy, method})
			if err != nil {
				return nil, err
			}
			if r == nil {
				continue
			}
			shown := f.Labels
			if len(sel.methods) > 0 {
				shown = labels.NewBuilder(shown).Set(aggregationMatcher, method.String()).Labels()
			}
			hash := shown.Hash()
			if other, taken := seen[hash]; taken && labels.Equal(set.series[other].labels, shown) {
				return nil, fmt.Errorf("metrics %s and %s have the same labels %s", set.series[other].metric.ID, f.Metric.ID, shown)
			}
			seen[hash] = len(set.series)
			set.series = append(set.series, &series{ctx: ctx, selection: sel, metric: f.Metric, labels: shown, reading: r, archives: archives, sack: archives.Sack(f.Metric.ID)})
		}
	}
	if err := s.takeSamples(ctx, int64(len(set.series)), sel.steps()); err != nil {
		return nil, err
	}
	slices.SortFunc(set.series, func(a, b *series) int {
		if sorted {
			return labels.Compare(a.labels, b.labels)
		}
		// The engine adds values up in this order: every process is to give the same sums. Neighbours are read together.
		return cmp.Or(cmp.Compare(a.sack, b.sack), bytes.Compare(a.metric.ID[:], b.metric.ID[:]))
	})
	for i, one := range set.series {
		one.place = i
	}
	sel.ahead = newReadAhead(set.series, s.engine.options.MaxSamples)
	err = sel.prefetch(ctx, set.series)
	set.notes = sel.notes
	return set, err
}

// takePseudo takes the matchers that say how to read, and undoes the escapes of label names.
func (sel *selection) takePseudo(matchers []*labels.Matcher) ([]*labels.Matcher, error) {
	var real []*labels.Matcher
	for _, m := range matchers {
		var err error
		if m.Name == granularityMatcher && m.Type != labels.MatchEqual {
			return nil, fmt.Errorf("%s says how to read series: it takes = only", m.Name)
		}
		switch m.Name {
		case aggregationMatcher:
			if m.Type != labels.MatchEqual {
				sel.methods = append(sel.methods, m)
			} else if sel.method, err = carbonara.ParseMethod(m.Value); err != nil {
				return nil, fmt.Errorf("%s: %w", m.Name, err)
			}
		case quantileMatcher:
			if sel.percentile, err = carbonara.ParseMethod(m.Value); err != nil {
				return nil, fmt.Errorf("%s: %w", m.Name, err)
			}
		case granularityMatcher:
			if sel.granularity, err = model.ParseTimespan(m.Value); err != nil || sel.granularity <= 0 {
				return nil, fmt.Errorf("%s: %q is no granularity", m.Name, m.Value)
			}
		case offsetMatcher:
			offset, err := strconv.ParseInt(m.Value, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("%s: %q is no number of milliseconds", m.Name, m.Value)
			}
			sel.offset = &offset
		default:
			if plain := common.UnescapeName(m.Name, common.ValueEncodingEscaping); plain != m.Name {
				if m, err = labels.NewMatcher(m.Type, plain, m.Value); err != nil {
					return nil, err
				}
			}
			real = append(real, m)
		}
	}
	return real, nil
}

// selectorText shows matchers.
func selectorText(matchers []*labels.Matcher) string {
	name := ""
	var rest []string
	for _, m := range matchers {
		if m.Name == common.MetricNameLabel && m.Type == labels.MatchEqual && common.LegacyValidation.IsValidMetricName(m.Value) {
			name = m.Value
		} else {
			rest = append(rest, m.String())
		}
	}
	if len(rest) == 0 {
		return name
	}
	return name + "{" + strings.Join(rest, ",") + "}"
}

// seriesSet is the series of a selector.
type seriesSet struct {
	series []*series
	at     int
	notes  annotations.Annotations
}

// Next implements storage.SeriesSet.
func (s *seriesSet) Next() bool {
	s.at++
	return s.at < len(s.series)
}

// At implements storage.SeriesSet.
func (s *seriesSet) At() storage.Series { return s.series[s.at] }

// Err implements storage.SeriesSet.
func (s *seriesSet) Err() error { return nil }

// Warnings implements storage.SeriesSet.
func (s *seriesSet) Warnings() annotations.Annotations { return s.notes }

// series is one metric. Its samples are read when they are asked for, or somewhat earlier, so that a query holds those of some series at
// a time.
type series struct {
	ctx       context.Context // of the query, which ends before the series does
	selection *selection
	metric    *model.Metric
	labels    labels.Labels
	reading   *reading
	parts     []part
	archives  query.GroupReader
	sack      int
	place     int // among the selector's series
}

// Labels implements storage.Series.
func (s *series) Labels() labels.Labels { return s.labels }

// Iterator implements storage.Series.
func (s *series) Iterator(reuse chunkenc.Iterator) chunkenc.Iterator {
	ahead := s.selection.ahead
	if done, ok := reuse.(*iterator); ok {
		ahead.free = append(ahead.free, done)
	}
	it := ahead.take(s.ctx, s.place)
	s.selection.current = it
	return it
}

// reading is what is read of the series of an archive policy.
type reading struct {
	kind        readingKind
	method      carbonara.Method // of readMethod and readOne
	columns     []carbonara.Column
	exact       bool          // coarser groups answer the same
	raw         bool          // so do raw measures
	note        error         // what is to be said if groups are read; nil: nothing
	granularity time.Duration // the only one that does; 0: any
}

type readingKind uint8

const (
	readMethod  readingKind = iota // the method's aggregates
	readOne                        // 1 for each aggregate of the method
	readMoments                    // count, sum and perhaps second moment
)

func readingOfMethod(m carbonara.Method) *reading {
	return &reading{method: m, columns: query.ReadOf(nil, time.Second, m, 0, 0).Columns, raw: !m.IsRate() && m != carbonara.Std}
}

// methodsOf returns the methods by which the metrics of a policy are read, each as a series; 0: rule 6.
func (sel *selection) methodsOf(policy *model.ArchivePolicy) []carbonara.Method {
	if len(sel.methods) == 0 {
		return []carbonara.Method{sel.method}
	}
	var methods []carbonara.Method
	for _, m := range policy.Methods() {
		text := m.String()
		if (sel.method == 0 || sel.method == m) && !slices.ContainsFunc(sel.methods, func(l *labels.Matcher) bool { return !l.Matches(text) }) {
			methods = append(methods, m)
		}
	}
	return methods
}

// readingOf says what to read; nil: nothing, the policy has no such method.
func (sel *selection) readingOf(key readingKey) (*reading, error) {
	if r, ok := sel.known[key]; ok {
		return r, nil
	}
	if sel.granularity > 0 && !key.policy.HasGranularity(sel.granularity) {
		sel.known[key] = nil
		return nil, nil
	}
	r, err := sel.chooseReading(key)
	if err != nil {
		return nil, err
	}
	if sel.granularity > 0 && r != nil {
		r.granularity = sel.granularity
	}
	sel.known[key] = r
	return r, nil
}

// stores reports whether a policy keeps what a method is answered from, be the method among its own or not.
func stores(policy *model.ArchivePolicy, m carbonara.Method) bool {
	for _, c := range m.Columns() {
		if _, ok := slices.BinarySearch(policy.Plan().Columns, c); !ok {
			return false
		}
	}
	return true
}

// functionMethods are the methods that functions over time are answered from.
var functionMethods = map[string]carbonara.Method{
	"min_over_time": carbonara.Min, "max_over_time": carbonara.Max, "sum_over_time": carbonara.Sum,
	"first_over_time": carbonara.First, "last_over_time": carbonara.Last, countFunction: carbonara.Count,
}

// rateFunctions need the measures themselves, or the last of each group; else they make do with another method.
var rateFunctions = map[string]carbonara.Method{
	"rate": carbonara.Max, "irate": carbonara.Max, "increase": carbonara.Max, "resets": carbonara.Max,
	"delta": carbonara.Mean, "idelta": carbonara.Mean, "deriv": carbonara.Mean, "predict_linear": carbonara.Mean,
}

func (sel *selection) chooseReading(key readingKey) (*reading, error) {
	policy := key.policy
	if key.method != 0 {
		if !policy.HasMethod(key.method) {
			return nil, nil
		}
		return readingOfMethod(key.method), nil
	}
	if m, ok := functionMethods[sel.function]; ok {
		if stores(policy, m) {
			r := readingOfMethod(m)
			r.exact = true
			return r, nil
		}
		r, err := sel.baseReading(policy, m.String())
		if err == nil && m == carbonara.Count {
			r.kind = readOne
		}
		return r, err
	}
	if instead, ok := rateFunctions[sel.function]; ok {
		switch {
		case policy.HasMethod(carbonara.Last):
			return readingOfMethod(carbonara.Last), nil
		case policy.HasMethod(instead):
			r := readingOfMethod(instead)
			r.note = info("archive policy %q has no last: %s is that of its %s. To add last: PATCH /v1/archive_policy/%s?rebuild=true "+
				"with aggregation_methods", policy.Name, sel.function, instead, policy.Name)
			return r, nil
		}
		return nil, fmt.Errorf("archive policy %q has neither last nor %s, from which %s could be answered", policy.Name, instead, sel.function)
	}
	switch sel.function {
	case avgFunction:
		if stores(policy, carbonara.Mean) {
			return &reading{kind: readMoments, exact: true, raw: true, columns: []carbonara.Column{carbonara.ColumnCount, carbonara.ColumnSum}}, nil
		}
		return sel.baseReading(policy, "mean")
	case stddevFunction, stdvarFunction:
		if stores(policy, carbonara.Mean) && stores(policy, carbonara.Std) {
			return &reading{kind: readMoments, exact: true, raw: true, columns: []carbonara.Column{carbonara.ColumnCount, carbonara.ColumnSum, carbonara.ColumnM2}}, nil
		}
		return sel.baseReading(policy, "std and mean")
	case "quantile_over_time":
		return sel.quantileReading(policy)
	}
	return sel.baseReading(policy, "")
}

// baseReading reads what selectors read: last or mean. An info says which, if something is
// missing that would have answered.
func (sel *selection) baseReading(policy *model.ArchivePolicy, missing string) (*reading, error) {
	for _, m := range []carbonara.Method{carbonara.Last, carbonara.Mean} {
		if !policy.HasMethod(m) {
			continue
		}
		r := readingOfMethod(m)
		if missing != "" {
			r.note = info("archive policy %q has no %s: %s is that of its %s", policy.Name, missing, sel.shownFunction(), m)
		}
		return r, nil
	}
	return nil, fmt.Errorf("archive policy %q has neither last nor mean: choose one of its methods by %s", policy.Name, aggregationMatcher)
}

// shownFunction is the function as the client wrote it.
func (sel *selection) shownFunction() string {
	name, _, _ := strings.Cut(sel.function, " ")
	return name
}

// quantileReading returns the percentile of a policy that has it, at a granularity that is the range: at any time the range
// has one group.
func (sel *selection) quantileReading(policy *model.ArchivePolicy) (*reading, error) {
	granularity := time.Duration(sel.length) * time.Millisecond
	if sel.percentile != 0 && policy.HasGranularity(granularity) && stores(policy, sel.percentile) {
		r := readingOfMethod(sel.percentile)
		r.granularity = granularity
		return r, nil
	}
	r, err := sel.baseReading(policy, "")
	if err != nil {
		return nil, err
	}
	r.note = fmt.Errorf("%w: archive policy %q has no such percentile of this range: quantile_over_time is that of its %s",
		annotations.PromQLWarning, policy.Name, r.method)
	return r, nil
}

func info(format string, args ...any) error {
	return fmt.Errorf("%w: %s", annotations.PromQLInfo, fmt.Sprintf(format, args...))
}

// isAligned reports whether the range and all times of a selector over time are multiples of a granularity.
func (sel *selection) isAligned(granularity time.Duration) bool {
	g := int64(granularity / time.Millisecond)
	if sel.length == 0 || sel.end > int64(sel.now/1e6) || granularity%time.Millisecond != 0 || sel.length%g != 0 || sel.step%g != 0 {
		return false
	}
	if sel.offset != nil {
		return sel.step > 0 && *sel.offset%g == 0
	}
	return sel.first%g == 0
}

// milliseconds is a time, rounded up: a group is no sample before it has ended.
func milliseconds(t carbonara.Timestamp) int64 {
	return int64((t + 999_999) / 1_000_000)
}

func timestampOf(ms int64) carbonara.Timestamp {
	const most = math.MaxInt64 / 1_000_000
	return carbonara.Timestamp(min(max(ms, 0), most) * 1_000_000)
}
