package postings

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/prometheus/prometheus/model/labels"

	"gnocco/internal/budget"
	"gnocco/model"
)

// Series is a metric and the labels that results show of it.
type Series struct {
	Metric *model.Metric
	Labels labels.Labels
}

// Candidate is what an access rule may ask of a series.
type Candidate struct {
	state *state
	place uint32
}

// Creator returns who made the metric.
func (c Candidate) Creator() string { return c.state.texts[c.state.metrics[c.place].creator] }

// Metric returns the metric's ID.
func (c Candidate) Metric() uuid.UUID { return c.state.metrics[c.place].id }

// Name returns the metric's name.
func (c Candidate) Name() string { return c.state.texts[c.state.metrics[c.place].name] }

// Unit returns the metric's unit.
func (c Candidate) Unit() string { return c.state.texts[c.state.metrics[c.place].unit] }

// ArchivePolicy returns the name of the metric's policy.
func (c Candidate) ArchivePolicy() string { return c.state.texts[c.state.metrics[c.place].policy] }

// Resource returns the ID and the creator of the metric's resource, and whether it has one.
func (c Candidate) Resource() (id uuid.UUID, creator string, ok bool) {
	place := c.state.metrics[c.place].resource
	if place == none || c.state.resources[place].pushed {
		return id, "", false
	}
	r := &c.state.resources[place]
	return r.id, c.state.texts[r.creator], true
}

// Attribute returns an attribute of the metric's resource as text, "" for none: also its type, original_resource_id,
// project_id or user_id.
func (c Candidate) Attribute(name string) string {
	m := &c.state.metrics[c.place]
	if m.resource == none {
		return ""
	}
	r := &c.state.resources[m.resource]
	switch name {
	case labelOriginalID:
		return c.state.texts[r.original]
	case "type":
		name = labelResourceType
	default:
		name = attributeLabel(name)
	}
	return c.state.texts[find(r.labels, c.state.symbols[name])]
}

// Sees reports whether somebody sees a series. nil: all of them. It is for one goroutine.
type Sees func(Candidate) bool

// Select returns the series that all matchers match and sees lets through, in no order.
func (c *Catalog) Select(ctx context.Context, sees Sees, matchers ...*labels.Matcher) ([]Series, error) {
	var found []Series
	var ids []uuid.UUID
	err := c.view(ctx, func(s *state) error {
		var builder labels.ScratchBuilder
		return s.each(ctx, sees, matchers, seriesBytes, func(place uint32) {
			ids = append(ids, s.metrics[place].id)
			found = append(found, Series{Labels: s.labels(&s.metrics[place], &builder)})
		})
	})
	if err != nil {
		return nil, err
	}
	kept := 0
	for i, id := range ids {
		m, err := c.index.Metric(id)
		if errors.Is(err, model.ErrNotFound) { // deleted meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		found[kept] = Series{m, found[i].Labels}
		kept++
	}
	return found[:kept], nil
}

// Labels returns the label sets of the series that match at least one list of matchers, without duplicates, as many as
// limit (0: all). ids adds those that only matchers know otherwise: metric_id, resource_id and original_resource_id.
func (c *Catalog) Labels(ctx context.Context, sees Sees, limit int, ids bool, lists ...[]*labels.Matcher) ([]labels.Labels, error) {
	var found []labels.Labels
	err := c.view(ctx, func(s *state) error {
		var builder labels.ScratchBuilder
		places, err := s.union(ctx, sees, labelBytes, lists)
		for _, place := range places {
			if limit > 0 && len(found) == limit {
				break
			}
			shown := s.labels(&s.metrics[place], &builder)
			if ids {
				shown = s.withIDs(&s.metrics[place], shown)
			}
			found = append(found, shown)
		}
		return err
	})
	return found, err
}

// Names returns the names of the labels that the series have which match at least one list, ascending.
func (c *Catalog) Names(ctx context.Context, sees Sees, lists ...[]*labels.Matcher) ([]string, error) {
	var names []string
	err := c.view(ctx, func(s *state) error {
		places, err := s.union(ctx, sees, listBytes, lists)
		known := make([]bool, len(s.texts))
		seen := make([]bool, len(s.resources))
		var name, metricID, resourceID bool
		for _, place := range places {
			m := &s.metrics[place]
			name = name || m.name != 0
			metricID = metricID || m.resource == none
			if meter, ok := s.meterOf(m); ok {
				s.naming.each(s, m, meter, func(label pair) { known[label.name] = true })
			} else if m.resource != none && !seen[m.resource] {
				seen[m.resource] = true
				resourceID = resourceID || !s.resources[m.resource].pushed
				for _, label := range s.resources[m.resource].labels {
					known[label.name] = true
				}
			}
		}
		for text, has := range map[string]bool{labelName: name, labelMetricID: metricID, labelResourceID: resourceID} {
			if has {
				names = append(names, text)
			}
		}
		for at, has := range known {
			if has {
				names = append(names, s.texts[at])
			}
		}
		return err
	})
	slices.Sort(names)
	return slices.Compact(names), err
}

// Values returns the values of a label of the series that match at least one list, ascending. Labels that only matchers
// know have values, too.
func (c *Catalog) Values(ctx context.Context, sees Sees, name string, lists ...[]*labels.Matcher) ([]string, error) {
	var values []string
	var ids []uuid.UUID
	err := c.view(ctx, func(s *state) error {
		f := s.field(name)
		places, err := s.union(ctx, sees, listBytes, lists)
		seen := make([]bool, len(s.texts))
		resources := make([]bool, len(s.resources))
		for _, place := range places {
			m := &s.metrics[place]
			if f.kind >= fieldResourceID && !s.isByMetric(f) {
				if m.resource == none || resources[m.resource] {
					continue
				}
				resources[m.resource] = true
			}
			if f.isID() {
				if id, ok := s.id(m, f); ok {
					ids = append(ids, id)
				} else if value := s.text(m, f); value != "" {
					values = append(values, value)
				}
				continue
			}
			if value := s.value(m, f); value != 0 && !seen[value] {
				seen[value] = true
				values = append(values, s.texts[value])
			}
		}
		return err
	})
	// IDs sort as their texts do, and faster.
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	pushed := len(values)
	values = appendTexts(values, ids)
	if pushed > 0 || len(ids) == 0 {
		slices.Sort(values)
		values = slices.Compact(values)
	}
	return values, err
}

// Units returns the units of metrics by name.
func (c *Catalog) Units(ctx context.Context, sees Sees) (map[string][]string, error) {
	units := map[string][]string{}
	err := c.view(ctx, func(s *state) error {
		return s.each(ctx, sees, nil, listBytes, func(place uint32) {
			m := &s.metrics[place]
			name, unit := s.texts[s.nameOf(m)], s.texts[m.unit]
			if name != "" && !slices.Contains(units[name], unit) {
				units[name] = append(units[name], unit)
			}
		})
	})
	return units, err
}

// What a request takes for each series that it finds, about, until its end.
const (
	seriesBytes = 1 << 10 // labels, twice as the engine changes them, what is read of it, and its text
	labelBytes  = 512     // labels and their text
	listBytes   = 128     // a text, twice, in a list
)

// union returns the places of the series that match at least one list, or of all if there is no list. Each takes memory.
func (s *state) union(ctx context.Context, sees Sees, bytes int64, lists [][]*labels.Matcher) ([]uint32, error) {
	if len(lists) == 0 {
		lists = [][]*labels.Matcher{nil}
	}
	var places []uint32
	for _, matchers := range lists {
		if err := s.each(ctx, sees, matchers, bytes, func(place uint32) { places = append(places, place) }); err != nil {
			return nil, err
		}
	}
	if len(lists) > 1 {
		slices.Sort(places)
		places = slices.Compact(places)
	}
	return places, nil
}

// field is a label as a place where its value lies.
type field struct {
	kind fieldKind
	name symbol // of the label, which pushed series may have whatever it is; 0 if no resource has it
}

type fieldKind uint8

const (
	fieldName fieldKind = iota
	fieldMetricID
	fieldUnit
	fieldPolicy
	fieldResourceID // this and what follows is the resource's
	fieldOriginal
	fieldLabel
)

func (f field) isID() bool { return f.kind == fieldMetricID || f.kind == fieldResourceID }

func (s *state) field(name string) field {
	f := field{fieldLabel, s.symbols[name]}
	switch name {
	case labelName:
		f.kind = fieldName
	case labelMetricID:
		f.kind = fieldMetricID
	case labelUnit:
		f.kind = fieldUnit
	case labelPolicy:
		f.kind = fieldPolicy
	case labelResourceID:
		f.kind = fieldResourceID
	case labelOriginalID:
		f.kind = fieldOriginal
	}
	return f
}

// isByMetric reports whether metrics of one resource may have different values of a field.
func (s *state) isByMetric(f field) bool {
	return f.kind == fieldLabel && s.naming != nil && s.naming.byMetric[f.name]
}

// find returns the value of a label in a list, 0 for none.
func find(list []pair, name symbol) symbol {
	for _, label := range list {
		if label.name == name {
			return label.value
		}
	}
	return 0
}

// labelOf returns the value of a label that a metric has by its resource or by its name, 0 for none, and whether the metric was
// pushed with labels.
func (s *state) labelOf(m *metric, name symbol) (value symbol, pushed bool) {
	if m.resource == none {
		return 0, false
	}
	r := &s.resources[m.resource]
	if name == 0 {
		return 0, r.pushed
	}
	if meter, ok := s.meterOf(m); ok {
		s.naming.each(s, m, meter, func(label pair) {
			if label.name == name {
				value = label.value
			}
		})
		if value != 0 {
			return value, false
		}
	}
	return find(r.labels, name), r.pushed
}

// value returns a metric's value of a field that is no ID.
func (s *state) value(m *metric, f field) symbol {
	if f.kind == fieldName {
		return s.nameOf(m)
	}
	value, pushed := s.labelOf(m, f.name)
	if f.kind == fieldLabel || pushed && value != 0 {
		return value
	}
	switch f.kind {
	case fieldUnit:
		return m.unit
	case fieldPolicy:
		return m.policy
	}
	if m.resource == none {
		return 0
	}
	return s.resources[m.resource].original
}

// appendTexts appends IDs as texts.
func appendTexts(dst []string, ids []uuid.UUID) []string {
	const length = len("00000000-0000-0000-0000-000000000000")
	var all strings.Builder // one piece of memory for all
	all.Grow(length * len(ids))
	var text [length]byte
	for _, id := range ids {
		hex.Encode(text[:], id[:4])
		for i, at := range [...]int{9, 14, 19, 24} {
			text[at-1] = '-'
			from := 4 + 2*i
			to := from + 2
			if i == 3 {
				to = len(id)
			}
			hex.Encode(text[at:], id[from:to])
		}
		all.Write(text[:])
	}
	dst = slices.Grow(dst, len(ids))
	for i := range ids {
		dst = append(dst, all.String()[i*length:(i+1)*length])
	}
	return dst
}

// id returns a metric's value of a field that is an ID, unless it has none, or a label that was pushed instead.
func (s *state) id(m *metric, f field) (uuid.UUID, bool) {
	switch value, pushed := s.labelOf(m, f.name); {
	case pushed && (value != 0 || f.kind == fieldResourceID):
		return uuid.Nil, false
	case f.kind == fieldMetricID:
		return m.id, true
	case m.resource == none:
		return uuid.Nil, false
	}
	return s.resources[m.resource].id, true
}

// text returns a metric's value of a field.
func (s *state) text(m *metric, f field) string {
	if !f.isID() {
		return s.texts[s.value(m, f)]
	}
	if id, ok := s.id(m, f); ok {
		return id.String()
	}
	value, _ := s.labelOf(m, f.name)
	return s.texts[value]
}

// labels returns what results show of a metric.
func (s *state) labels(m *metric, b *labels.ScratchBuilder) labels.Labels {
	b.Reset()
	if name := s.nameOf(m); name != 0 {
		b.Add(labelName, s.texts[name])
	}
	add := func(label pair) { b.Add(s.texts[label.name], s.texts[label.value]) }
	if meter, ok := s.meterOf(m); ok {
		s.naming.each(s, m, meter, add)
	} else if m.resource == none {
		b.Add(labelMetricID, m.id.String())
	} else {
		r := &s.resources[m.resource]
		if !r.pushed {
			b.Add(labelResourceID, r.id.String())
		}
		for _, label := range r.labels {
			add(label)
		}
	}
	b.Sort()
	return b.Labels()
}

// withIDs adds a metric's IDs to its labels.
func (s *state) withIDs(m *metric, shown labels.Labels) labels.Labels {
	b := labels.NewBuilder(shown).Set(labelMetricID, m.id.String())
	if m.resource != none && !s.resources[m.resource].pushed {
		r := &s.resources[m.resource]
		b.Set(labelResourceID, r.id.String()).Set(labelOriginalID, s.texts[r.original])
	}
	return b.Labels()
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
	c.equal, c.exists = s.symbols[m.Value]
	return c
}

func (c *check) matches(s *state, m *metric) bool {
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

// each calls f for the metrics that all matchers match and sees lets through. Each takes so many bytes of the memory that
// requests share.
func (s *state) each(ctx context.Context, sees Sees, matchers []*labels.Matcher, bytes int64, f func(place uint32)) error {
	account, found := budget.Of(ctx), int64(0)
	checks := make([]check, len(matchers))
	for i, m := range matchers {
		checks[i] = s.check(m)
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
				if err := account.Take(budget.Answers, together*bytes); err != nil {
					return err
				}
			}
			found++
			f(place)
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
	if m.Matches("") {
		return nil, false
	}
	values := []string{m.Value}
	switch m.Type {
	case labels.MatchEqual:
	case labels.MatchRegexp:
		if values = m.SetMatches(); len(values) == 0 {
			return nil, false
		}
	default:
		return nil, false
	}
	f := s.field(m.Name)
	if s.isByMetric(f) {
		return nil, false
	}
	for _, value := range values {
		known, isText := s.symbols[value]
		switch f.kind {
		case fieldName:
			if isText {
				found = append(found, s.named[known]...)
			}
		case fieldMetricID:
			if id, err := uuid.Parse(value); err == nil {
				if place, ok := s.places[id]; ok {
					found = append(found, place)
				}
			}
		case fieldResourceID:
			if id, err := uuid.Parse(value); err == nil {
				if place, ok := s.resPlaces[id]; ok {
					found = append(found, s.resources[place].metrics...)
				}
			}
		case fieldLabel:
		default:
			return nil, false
		}
		if isText {
			for _, place := range s.values[f.name][known] {
				found = append(found, s.resources[place].metrics...)
			}
		}
	}
	if f.isID() { // both of the series and a label that was pushed
		slices.Sort(found)
		found = slices.Compact(found)
	}
	return found, true
}
