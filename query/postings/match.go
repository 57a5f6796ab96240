package postings

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/gnocco-db/gnocco/internal/budget"
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
		found := 0
		err := s.each(ctx, sees, matchers, bytes, func(place uint32) error {
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

// each calls f for the metrics that all matchers match and sees lets through, until it fails. Each takes so many bytes
// of the memory that requests share.
func (s *state) each(ctx context.Context, sees Sees, matchers []*labels.Matcher, bytes int64,
	f func(place uint32) error) error {
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
