package postings

import (
	"context"
	"errors"
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/model"
)

// The memory, about, that a request takes for each series that it finds, until its end.
const (
	seriesBytes = 1 << 10 // labels, twice as the engine changes them, its samples, and its text
	labelBytes  = 512     // labels and their text
	listBytes   = 128     // a text, twice, in a list
)

// errEnough ends each when there are as many series as are asked for.
var errEnough = errors.New("enough")

// union returns the places of the series that match at least one list, or of all if there is no list, as many as limit
// (0: all). Each takes memory.
func (s *state) union(ctx context.Context, sees Sees, bytes int64, limit int,
	lists [][]*labels.Matcher) ([]uint32, error) {
	if len(lists) == 0 {
		lists = [][]*labels.Matcher{nil}
	}
	var places []uint32
	for _, matchers := range lists {
		found, parts := 0, s.pushed.part == 0 || SelectsParts(matchers)
		err := s.each(ctx, sees, matchers, bytes, func(place uint32) error {
			if !parts && s.isLaterPart(&s.metrics[place]) {
				return nil
			}
			places = append(places, place)
			if found++; found == limit {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			return nil, err
		}
	}
	if len(lists) > 1 {
		slices.Sort(places)
		places = slices.Compact(places)
	}
	if limit > 0 {
		places = places[:min(limit, len(places))]
	}
	return places, nil
}

// SelectsParts reports whether matchers ask for single parts of native histograms, and not for histograms.
func SelectsParts(matchers []*labels.Matcher) bool {
	return slices.ContainsFunc(matchers, func(m *labels.Matcher) bool {
		return m.Name == model.LabelHistogram || m.Name == labelMetricID
	})
}

// isLaterPart reports whether a series is a part of a native histogram other than the count, which stands for it.
func (s *state) isLaterPart(m *metric) bool {
	part := ""
	if m.pushed {
		part = s.texts[s.find(m, s.pushed.part)]
	}
	return part != "" && part != "count" && part != "gauge:count"
}

// check is a matcher whose answers are remembered.
type check struct {
	matcher *labels.Matcher
	field   field
	known   map[symbol]bool // of regular expressions
	equal   symbol          // what MatchEqual and MatchNotEqual compare with
	exists  bool            // equal is a text that something has
}

func (s *state) check(m *labels.Matcher) check {
	c := check{matcher: m, field: s.field(m.Name), known: map[symbol]bool{}}
	c.equal, c.exists = s.symbolOf(m.Value)
	return c
}

func (c *check) matches(s *state, m *metric) bool {
	if c.field.kind == fieldAny {
		return c.matchesAny(s, m)
	}
	if c.field.isID() {
		return c.matcher.Matches(s.text(m, c.field))
	}
	value := s.value(m, c.field)
	if c.field.kind == fieldName && value != m.name { // a series of two names: either is asked for, or none of them
		negative := c.matcher.Type == labels.MatchNotEqual || c.matcher.Type == labels.MatchNotRegexp
		if answer := c.matchesText(s, m.name); answer != negative {
			return answer
		}
	}
	return c.matchesText(s, value)
}

// matchesAny reports whether a text of a series is asked for, and for a negative matcher, whether none is refused.
func (c *check) matchesAny(s *state, m *metric) bool {
	negative := c.matcher.Type == labels.MatchNotEqual || c.matcher.Type == labels.MatchNotRegexp
	is := func(value symbol) bool { return value != 0 && c.matchesText(s, value) != negative }
	pairs := hasPairs(c.matcher)
	if is(m.name) || is(s.naming.nameOf(m)) || is(s.original(m)) {
		return !negative
	}
	for label := range s.pairsOf(m) {
		if is(label.value) || pairs && c.matcher.Matches(s.textOf(label)) != negative {
			return !negative
		}
	}
	ids := mayBeID(c.matcher) && (c.matcher.Matches(m.id.String()) != negative ||
		m.resource != none && c.matcher.Matches(s.resources[m.resource].id.String()) != negative)
	return ids != negative
}

// hasPairs reports whether a matcher may be about a label and its value, label=value, and not about a value alone.
func hasPairs(m *labels.Matcher) bool { return strings.Contains(m.Value, "=") }

func (s *state) textOf(label pair) string { return s.texts[label.name] + "=" + s.texts[label.value] }

// uuids are those in a text, in both forms.
var uuids = regexp.MustCompile(`(?i)\b([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})\b`)

// inBothForms has a regular expression for any text match UUIDs with and without hyphens.
func inBothForms(m *labels.Matcher) *labels.Matcher {
	if m.Name == LabelAny && (m.Type == labels.MatchRegexp || m.Type == labels.MatchNotRegexp) {
		text := uuids.ReplaceAllString(m.Value, "$1-?$2-?$3-?$4-?$5")
		if both, err := labels.NewMatcher(m.Type, m.Name, text); err == nil { // else it was in a class of characters
			return both
		}
	}
	return m
}

// mayBeID reports whether a matcher has as much of an ID as people copy: IDs of all series are not compared with words.
func mayBeID(m *labels.Matcher) bool {
	run := 0
	for _, c := range []byte(m.Value) {
		if run++; !strings.ContainsRune("0123456789abcdefABCDEF-", rune(c)) {
			run = 0
		} else if run == 6 {
			return true
		}
	}
	return false
}

// withAny returns the metrics that a matcher of any text lets through.
func (s *state) withAny(m *labels.Matcher) (found []uint32) {
	matches, ids := make([]bool, len(s.texts)), mayBeID(m)
	for i, text := range s.texts {
		matches[i] = m.Matches(text)
	}
	for name, places := range s.named {
		if matches[name] {
			found = append(found, places...)
		}
	}
	is := func(label pair) bool { return matches[label.value] || hasPairs(m) && m.Matches(s.textOf(label)) }
	has := make([]bool, len(s.resources))
	for name, values := range s.values {
		for value, resources := range values {
			if is(pair{name, value}) {
				for _, place := range resources {
					has[place] = true
				}
			}
		}
	}
	for place := range s.resources {
		if r := &s.resources[place]; has[place] || matches[r.original] || ids && m.Matches(r.id.String()) {
			found = append(found, r.metrics...)
		}
	}
	for place, label := range s.pushed.pairs {
		if is(label) {
			found = slices.AppendSeq(found, s.pushed.metrics(uint32(place)))
		}
	}
	for place := range s.metrics {
		if ids && m.Matches(s.metrics[place].id.String()) {
			found = append(found, uint32(place))
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func (c *check) matchesText(s *state, value symbol) bool {
	switch c.matcher.Type {
	case labels.MatchEqual:
		return c.exists && value == c.equal
	case labels.MatchNotEqual:
		return !c.exists || value != c.equal
	}
	answer, ok := c.known[value]
	if !ok {
		answer = c.matcher.Matches(s.texts[value])
		c.known[value] = answer
	}
	return answer
}

// each calls f for the metrics that all matchers match and sees lets through, until it fails. Each takes so many bytes
// of the memory that requests share.
func (s *state) each(ctx context.Context, sees Sees, matchers []*labels.Matcher, bytes int64,
	f func(place uint32) error) error {
	account, found := budget.Of(ctx), int64(0)
	checks, matchers := make([]check, len(matchers)), slices.Clone(matchers)
	for i, m := range matchers {
		matchers[i] = inBothForms(m)
		checks[i] = s.check(matchers[i])
	}
	seen := 0
	visit := func(place uint32) error {
		if seen++; seen%4096 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		m := &s.metrics[place]
		if m.gone {
			return nil
		}
		for i := range checks {
			if !checks[i].matches(s, m) {
				return nil
			}
		}
		if sees == nil || sees(Candidate{s, place}) {
			const together = 32
			if found%together == 0 {
				if err := account.Acquire(budget.Answers, together*bytes); err != nil {
					return err
				}
			}
			found++
			return f(place)
		}
		return nil
	}
	candidates, ok := s.candidates(matchers)
	if ok {
		for _, place := range candidates {
			if err := visit(place); err != nil {
				return err
			}
		}
		return nil
	}
	for place := range s.metrics {
		if err := visit(uint32(place)); err != nil {
			return err
		}
	}
	return nil
}

// candidates returns the metrics that one of the matchers lets through, the one that lets the fewest; false if none of
// them tells.
func (s *state) candidates(matchers []*labels.Matcher) (best []uint32, ok bool) {
	for _, m := range matchers {
		found, known := s.postings(m)
		if known && (!ok || len(found) < len(best)) {
			best, ok = found, true
		}
	}
	return best, ok
}

// postings returns the metrics that a matcher lets through, if the catalog has a list of them.
func (s *state) postings(m *labels.Matcher) (found []uint32, ok bool) {
	if m.Matches("") || m.Type != labels.MatchEqual && m.Type != labels.MatchRegexp {
		return nil, false
	}
	f := s.field(m.Name)
	if f.kind == fieldAny && s.naming == nil {
		return s.withAny(m), true
	}
	if s.isByMetric(f) || slices.Contains([]fieldKind{fieldAny, fieldUnit, fieldPolicy, fieldOriginal}, f.kind) {
		return nil, false
	}
	values := []string{m.Value}
	if m.Type == labels.MatchRegexp {
		if values = m.SetMatches(); len(values) == 0 {
			return s.matched(f, m)
		}
	}
	for _, value := range values {
		if id, err := uuid.Parse(value); err == nil && f.isID() {
			if place, ok := s.placeOf(id); ok && f.kind == fieldMetricID {
				found = append(found, place)
			}
			if place, ok := s.resPlaces[id]; ok && f.kind == fieldResourceID {
				found = append(found, s.resources[place].metrics...)
			}
		}
		if known, ok := s.symbolOf(value); ok {
			found = s.appendMetrics(found, f, known)
		}
	}
	if f.isID() { // both of the series and a label that was pushed
		slices.Sort(found)
		found = slices.Compact(found)
	}
	return found, true
}

// appendMetrics appends the metrics with a value as their name, or as a label of them or their resource.
func (s *state) appendMetrics(dst []uint32, f field, value symbol) []uint32 {
	if f.kind == fieldName {
		return append(dst, s.named[value]...)
	}
	for _, place := range s.values[f.name][value] {
		dst = append(dst, s.resources[place].metrics...)
	}
	if place, ok := s.pushed.find(pair{f.name, value}); ok {
		dst = slices.AppendSeq(dst, s.pushed.metrics(place))
	}
	return dst
}

// matched returns the metrics of all values that a matcher lets through: a label has fewer values than metrics. It
// returns none of many metrics: a visit of all in order costs less.
func (s *state) matched(f field, m *labels.Matcher) (found []uint32, ok bool) {
	if f.isID() || f.kind == fieldName && s.naming != nil { // a series of two names
		return nil, false
	}
	for value := range s.valuesOf(f) {
		if m.Matches(s.texts[value]) {
			found = s.appendMetrics(found, f, value)
		}
		if len(found) > 1000+len(s.metrics)/8 {
			return nil, false
		}
	}
	return found, true
}

// valuesOf returns the values of names or of a label, each perhaps twice. Their metrics may be gone.
func (s *state) valuesOf(f field) iter.Seq[symbol] {
	return func(yield func(symbol) bool) {
		if f.kind == fieldName {
			for value := range s.named {
				if !yield(value) {
					return
				}
			}
			return
		}
		for value := range s.values[f.name] {
			if !yield(value) {
				return
			}
		}
		for _, place := range s.pushed.named[f.name] {
			if !yield(s.pushed.pairs[place].value) {
				return
			}
		}
	}
}

// hasMetrics reports whether a metric that is not gone has a value.
func (s *state) hasMetrics(f field, value symbol) bool {
	isLive := func(place uint32) bool { return !s.metrics[place].gone }
	if f.kind == fieldName {
		return slices.ContainsFunc(s.named[value], isLive)
	}
	for _, place := range s.values[f.name][value] {
		if slices.ContainsFunc(s.resources[place].metrics, isLive) {
			return true
		}
	}
	if place, ok := s.pushed.find(pair{f.name, value}); ok {
		for metric := range s.pushed.metrics(place) {
			if isLive(metric) {
				return true
			}
		}
	}
	return false
}
