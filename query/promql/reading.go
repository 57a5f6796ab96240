package promql

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	common "github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/util/annotations"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
	"github.com/gnocco-db/gnocco/query/promql/columns"
)

// reading is what is read of the series of an archive policy.
type reading struct {
	kind        readingKind
	method      carbonara.Method // of readMethod and readOne
	columns     []carbonara.Column
	exact       bool          // coarser groups answer the same
	raw         bool          // so do raw measures
	ends        bool          // a range takes a group whole if it ends there
	note        error         // what is to be said if groups are read; nil: nothing
	granularity time.Duration // the only one that does; 0: any

	preferred []time.Duration // granularities in the order in which they are to serve a time
	step      time.Duration   // all of them are multiples of it
	planned   atomic.Pointer[planned]
}

type readingKind uint8

const (
	readMethod  readingKind = iota // the method's aggregates
	readOne                        // 1 for each aggregate of the method
	readMoments                    // count, sum and perhaps second moment
	readCounter                    // the increase within groups, and the first and last measure
	readSketch                     // the distributions of groups
)

func readingOfMethod(m carbonara.Method) *reading {
	columns := query.ReadOf(nil, time.Second, m, 0, 0).Columns
	return &reading{method: m, columns: columns,
		raw: !m.IsRate() && !m.IsCounter() && !m.IsFold() && m != carbonara.Std}
}

// readingOfMoments reads columns that functions combine exactly.
func readingOfMoments(columns ...carbonara.Column) *reading {
	return &reading{kind: readMoments, columns: columns, exact: true, raw: true}
}

// methodsOf returns the methods by which the metrics of a policy are read, each as a series; 0: rule 6.
func (sel *selection) methodsOf(policy *model.ArchivePolicy) []carbonara.Method {
	if len(sel.methods) == 0 {
		return []carbonara.Method{sel.method}
	}
	var methods []carbonara.Method
	for _, m := range policy.Methods() {
		text := m.String()
		if m == carbonara.SketchMethod {
			continue
		}
		excludes := func(l *labels.Matcher) bool { return !l.Matches(text) }
		if (sel.method == 0 || sel.method == m) && !slices.ContainsFunc(sel.methods, excludes) {
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
	if r != nil && sel.granularity > 0 {
		r.granularity = sel.granularity
	}
	if r != nil && sel.extended && !key.native {
		r.note = warning("%s with a modifier has the first and last measure of each group; what is between is not seen",
			sel.shownFunction())
	}
	sel.known[key] = r
	return r, nil
}

// stores reports whether a policy keeps what a method is answered from, be the method among its own or not.
func stores(policy *model.ArchivePolicy, m carbonara.Method) bool {
	lacks := func(c carbonara.Column) bool { return !slices.Contains(policy.Plan().Columns, c) }
	return !slices.ContainsFunc(m.Columns(), lacks)
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
		if !policy.Answers(key.method) {
			return nil, nil
		}
		r := readingOfMethod(key.method)
		if policy.FromSketch(key.method) {
			r.columns, r.note = []carbonara.Column{carbonara.ColumnSketch}, sketchNote(key.method.String())
		}
		if sel.function == countFunction {
			r.kind = readOne
		}
		return r, nil
	}
	if key.native {
		return sel.chooseNative(policy)
	}
	if m, ok := functionMethods[sel.function]; ok {
		return sel.overTimeReading(policy, m)
	}
	if instead, ok := rateFunctions[sel.function]; ok {
		return sel.rateReading(policy, instead)
	}
	switch sel.function {
	case avgFunction:
		if stores(policy, carbonara.Mean) {
			return readingOfMoments(carbonara.ColumnCount, carbonara.ColumnSum), nil
		}
		return sel.baseReading(policy, "mean")
	case stddevFunction, stdvarFunction:
		if stores(policy, carbonara.Mean) && stores(policy, carbonara.Std) {
			return readingOfMoments(carbonara.ColumnCount, carbonara.ColumnSum, carbonara.ColumnM2), nil
		}
		missing := "std"
		if !stores(policy, carbonara.Mean) {
			if missing = "mean"; !stores(policy, carbonara.Std) {
				missing = "std and mean"
			}
		}
		return sel.baseReading(policy, missing)
	case "quantile_over_time":
		return sel.quantileReading(policy)
	case "", "present_over_time", "absent_over_time":
		return sel.baseReading(policy, "")
	}
	r, err := sel.baseReading(policy, "")
	if err == nil {
		r.note = warning("%s is that of one value a group; changes within groups are not seen", sel.function)
	}
	return r, err
}

// overTimeReading reads the method that answers a function over time exactly, if the policy stores it.
func (sel *selection) overTimeReading(policy *model.ArchivePolicy, m carbonara.Method) (*reading, error) {
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

// rateReading reads what groups have of counters. Without that it reads last, or the method that a policy without last
// has instead.
func (sel *selection) rateReading(policy *model.ArchivePolicy, instead carbonara.Method) (*reading, error) {
	if overCounters[sel.function] != nil && stores(policy, carbonara.Increase) && stores(policy, carbonara.Resets) {
		instant := sel.function == "irate" || sel.function == "idelta"
		return &reading{kind: readCounter, columns: counterColumns, exact: !instant, raw: true}, nil
	}
	if sel.function == "delta" && stores(policy, carbonara.First) && stores(policy, carbonara.Last) &&
		stores(policy, carbonara.Count) {
		return &reading{kind: readCounter, columns: counterColumns[:3], raw: true}, nil
	}
	unseen := "changes"
	if instead == carbonara.Max {
		unseen = "resets"
	}
	switch {
	case policy.HasMethod(carbonara.Last):
		r := readingOfMethod(carbonara.Last)
		r.note = warning("%s is that of one measure a group; %s within groups are not seen", sel.function, unseen)
		if instead == carbonara.Max {
			r.note = warning("%s is that of one measure a group; %s within groups are not seen. To add increase and resets: PATCH "+
				"/v1/archive_policy/%s?rebuild=true with aggregation_methods", sel.function, unseen, policy.Name)
		}
		return r, nil
	case policy.HasMethod(instead):
		r := readingOfMethod(instead)
		r.note = warning("archive policy %q has no last: %s is that of its %s; %s within groups are not seen. To add last: "+
			"PATCH /v1/archive_policy/%s?rebuild=true with aggregation_methods", policy.Name, sel.function,
			instead, unseen, policy.Name)
		return r, nil
	}
	return nil, fmt.Errorf("archive policy %q has neither last nor %s, from which %s could be answered",
		policy.Name, instead, sel.function)
}

// baseReading reads what selectors read: last or mean. If the policy lacks what would have answered exactly, missing
// names it, and a warning says what is read instead.
func (sel *selection) baseReading(policy *model.ArchivePolicy, missing string) (*reading, error) {
	for _, m := range []carbonara.Method{carbonara.Last, carbonara.Mean} {
		if !policy.HasMethod(m) {
			continue
		}
		r := readingOfMethod(m)
		if m == carbonara.Mean && sel.function == "" {
			r.note = info("archive policy %q has no last: %s has the mean of each group", policy.Name, sel.selector)
		}
		if missing != "" {
			r.note = warning("archive policy %q has no %s: %s is that of the %s of each group. To add %s: "+
				"PATCH /v1/archive_policy/%s?rebuild=true with aggregation_methods", policy.Name, missing,
				sel.shownFunction(), m, missing, policy.Name)
		}
		return r, nil
	}
	return nil, fmt.Errorf("archive policy %q has neither last nor mean: choose one of its methods by %s",
		policy.Name, aggregationMatcher)
}

// shownFunction is the function as the client wrote it.
func (sel *selection) shownFunction() string {
	name, _, _ := strings.Cut(sel.function, " ")
	return name
}

// quantileReading reads the extremes that two quantiles are; or a percentile's column, if the policy has it and each
// range is one group. Else it reads sketches. Without these, a range of the length of a group has the group that ended
// last.
func (sel *selection) quantileReading(policy *model.ArchivePolicy) (*reading, error) {
	if m := sel.percentile; (m == carbonara.Min || m == carbonara.Max) && stores(policy, m) {
		r, err := sel.overTimeReading(policy, m)
		return r.withNaN(policy), err
	}
	granularity, sketch := time.Duration(sel.length)*time.Millisecond, policy.Plan().HasSketch()
	aligned := sel.isAligned(granularity)
	if sel.percentile != 0 && policy.HasGranularity(granularity) && stores(policy, sel.percentile) &&
		(aligned || !sketch) {
		r := readingOfMethod(sel.percentile).withNaN(policy)
		if r.granularity, r.ends = granularity, true; !aligned {
			r.note = warning("archive policy %q has no sketch: quantile_over_time is that of the group that ended last. "+
				"To add sketch: PATCH /v1/archive_policy/%s?rebuild=true with aggregation_methods", policy.Name, policy.Name)
		}
		return r, nil
	}
	if sketch {
		return &reading{kind: readSketch, columns: []carbonara.Column{carbonara.ColumnSketch}, exact: true, raw: true,
			note: sketchNote("quantile_over_time")}, nil
	}
	r, err := sel.baseReading(policy, "")
	if err != nil {
		return nil, err
	}
	r.note = warning("archive policy %q has no such percentile of this range, and no sketch: quantile_over_time is that of its %s. "+
		"To add sketch: PATCH /v1/archive_policy/%s?rebuild=true with aggregation_methods", policy.Name, r.method, policy.Name)
	return r, nil
}

// withNaN also reads the max or the sum, which says which groups hold NaN.
func (r *reading) withNaN(policy *model.ArchivePolicy) *reading {
	known := policy.Plan().Columns
	i := slices.IndexFunc(nanColumns, func(c carbonara.Column) bool { return slices.Contains(known, c) })
	if r != nil && i >= 0 {
		r.columns = slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(r.columns), nanColumns[i]))))
	}
	return r
}

// nanColumns are NaN if a group holds NaN.
var nanColumns = []carbonara.Column{carbonara.ColumnMax, carbonara.ColumnSum}

func sketchNote(what string) error {
	return info("%s of groups is that of sketches, within 1.1 %%", what)
}

func info(format string, args ...any) error {
	return fmt.Errorf("%w: %s", annotations.PromQLInfo, fmt.Sprintf(format, args...))
}

func warning(format string, args ...any) error {
	return fmt.Errorf("%w: %s", annotations.PromQLWarning, fmt.Sprintf(format, args...))
}

// olderGroups are notes about groups from before their archive policy had the columns that a query reads. Only the
// reading of groups shows that, after the engine has taken the notes of selectors.
type olderGroups struct {
	sync.Mutex
	notes annotations.Annotations
	cuts  map[*selection]int64 // ms: the widest groups of which a range had a part
}

// noteOlder warns that the answer has such groups, and how they count.
func (s *series) noteOlder(format string, args ...any) {
	s.note(warning("groups from before archive policy %q had its aggregation methods %s. To compute them from "+
		"measures or finer groups, where these are kept: gnocco rebuild", s.metric.ArchivePolicy.Name,
		fmt.Sprintf(format, args...)))
}

// note adds what the groups that were read say about the answer.
func (s *series) note(note error) {
	older := &s.selection.source.older
	older.Lock()
	defer older.Unlock()
	older.notes.Add(note)
}

// noteCut remembers the widest group of which a range had a part.
func (sel *selection) noteCut(s *columns.Samples) {
	if s.Cut == 0 {
		return
	}
	older := &sel.source.older
	older.Lock()
	defer older.Unlock()
	if older.cuts == nil {
		older.cuts = map[*selection]int64{}
	}
	older.cuts[sel], s.Cut = max(older.cuts[sel], s.Cut), 0
}

// all returns all notes, once no more groups are read.
func (o *olderGroups) all() annotations.Annotations {
	for sel, width := range o.cuts {
		function, length := sel.shownFunction(), time.Duration(sel.length)*time.Millisecond
		of := fmt.Sprintf("%s[%s]", sel.selector, common.Duration(length))
		granularity := common.Duration(time.Duration(width) * time.Millisecond)
		switch {
		case sel.length < width:
			o.notes.Add(warning("%s is shorter than granularity %s: rates, averages and deviations are the group's, sums "+
				"and counts in proportion, min, max and quantiles those of whole groups", of, granularity))
		case function == "min_over_time" || function == "max_over_time" || function == quantileFunction:
			o.notes.Add(warning("%s of %s is that of all groups of granularity %s that the range touches", function, of,
				granularity))
		default:
			o.notes.Add(info("%s begins or ends within groups of granularity %s: these count in proportion", of,
				granularity))
		}
	}
	return o.notes
}

// noteNaN warns of groups that hold NaN, where the answer from measures would not tell it from other values.
func (s *series) noteNaN(groups *carbonara.Groups) {
	f := s.selection.function
	isNaN := func(v float64) bool { return v != v && !carbonara.IsAbsent(v) }
	for _, c := range nanColumns {
		if (f == "max_over_time" || f == quantileFunction) && slices.ContainsFunc(groups.Column(c), isNaN) {
			s.note(warning("%s of groups that hold NaN is not that of their measures", f))
		}
	}
}

// noteLeftOut warns that such groups have no part in the answer.
func (s *series) noteLeftOut(method string) { s.noteOlder("have no %s, and are left out", method) }
