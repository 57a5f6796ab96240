package postings

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/gnocco-db/gnocco/model"
)

// Count is how many a name has.
type Count struct {
	Name  string `json:"name"`
	Value int    `json:"value"`
}

// Statistics says how many series there are, and what most of them have.
type Statistics struct {
	Series, Pairs                 int
	ByName, ValuesByLabel, ByPair []Count // most first
}

// Statistics counts the series that sees lets through. Lists have up to so many items.
func (c *Catalog) Statistics(ctx context.Context, sees Sees, most int) (*Statistics, error) {
	out := new(Statistics)
	err := c.view(ctx, func(s *state) error {
		names := map[symbol]int{}
		pairs := map[pair]int{}
		resources := 0
		seen := map[uint32]bool{}
		err := s.each(ctx, sees, nil, listBytes, func(place uint32) error {
			m := &s.metrics[place]
			out.Series++
			names[s.naming.nameOf(m)]++
			if meter, ok := s.naming.meterOf(m); ok {
				s.naming.each(s, m, meter, func(label pair) { pairs[label]++ })
				return nil
			}
			if m.resource != none && !seen[m.resource] {
				seen[m.resource] = true
				resources++
			}
			for label := range s.pairsOf(m) {
				pairs[label]++
			}
			return nil
		})
		values := map[string]int{labelName: len(names)}
		if resources > 0 {
			values[labelResourceID] = resources
		}
		out.Pairs = len(names) + resources + len(pairs)
		var byName, byPair, byLabel []Count
		for name, n := range names {
			byName = append(byName, Count{s.texts[name], n})
		}
		for p, n := range pairs {
			values[s.texts[p.name]]++
			byPair = append(byPair, Count{s.texts[p.name] + "=" + s.texts[p.value], n})
		}
		for name, n := range values {
			byLabel = append(byLabel, Count{name, n})
		}
		out.ByName, out.ByPair, out.ValuesByLabel = top(byName, most), top(byPair, most), top(byLabel, most)
		return err
	})
	return out, err
}

// byCount sorts the most first.
func byCount(a, b Count) int {
	return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Name, b.Name))
}

// top returns the first of counts, in order. There may be as many counts as metrics: all but the first few are only
// compared with the last of these.
func top(counts []Count, most int) []Count {
	first := counts[:min(most, len(counts))]
	slices.SortFunc(first, byCount)
	if len(first) == 0 {
		return first
	}
	last := len(first) - 1
	for _, count := range counts[len(first):] {
		if byCount(count, first[last]) < 0 {
			at, _ := slices.BinarySearchFunc(first, count, byCount)
			copy(first[at+1:], first[at:last])
			first[at] = count
		}
	}
	return first
}

// LabelCount is how many series have each value of a label.
type LabelCount struct {
	Name   string  `json:"name"`
	Values int     `json:"values"` // different ones
	Counts []Count `json:"counts"` // most first
}

// Counts is how many series there are, and how many have each value of their labels, by name.
type Counts struct {
	Total  int          `json:"total"`
	Labels []LabelCount `json:"labels"`
}

// Counts counts the series that match at least one list of matchers by the values of the labels named; without any, of
// all labels but names and IDs. It returns up to most values of each label. A time since that is not zero counts only
// the series made since then, as their IDs say. Callers share the result and must not change it.
func (c *Catalog) Counts(ctx context.Context, sees Sees, most int, since time.Time, named []string,
	lists ...[]*labels.Matcher) (*Counts, error) {
	question := fmt.Sprintf("%d %d %q %q", most, since.UnixMilli(), named, lists)
	var out *Counts
	err := c.view(ctx, func(s *state) (err error) {
		if known, ok := s.counted.Load(question); ok && sees == nil {
			out = known.(*Counts)
			return nil
		}
		if out, err = s.countAll(ctx, sees, most, since, named, lists); err == nil && sees == nil {
			s.counted.keep(question, most, out)
		}
		return err
	})
	return out, err
}

func (s *state) countAll(
	ctx context.Context, sees Sees, most int, since time.Time, named []string, lists [][]*labels.Matcher,
) (*Counts, error) {
	places, err := s.union(ctx, sees, listBytes, 0, lists)
	if err != nil {
		return nil, err
	}
	if !since.IsZero() {
		places = slices.DeleteFunc(slices.Clone(places), func(place uint32) bool {
			made, known := model.MadeAt(s.metrics[place].id)
			return !known || made.Before(since)
		})
	}
	out := &Counts{Total: len(places), Labels: []LabelCount{}}
	if len(named) == 0 {
		named = s.labelsToCount(places)
	}
	for _, name := range named {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		if label := s.count(name, places, most); label.Values > 0 {
			out.Labels = append(out.Labels, label)
		}
	}
	return out, nil
}

// labelsToCount returns the labels that some metrics have, but for their names and IDs.
func (s *state) labelsToCount(places []uint32) []string {
	names := map[string]bool{labelUnit: true, labelPolicy: true, labelOriginalID: true}
	seen := make([]bool, len(s.resources))
	found := map[symbol]bool{}
	for _, place := range places {
		m := &s.metrics[place]
		if m.resource != none {
			if seen[m.resource] {
				continue
			}
			seen[m.resource] = true
		}
		for label := range s.pairsOf(m) {
			found[label.name] = true
		}
	}
	for name := range found {
		names[s.texts[name]] = true
	}
	for _, id := range []string{labelName, labelMetricID, labelResourceID} {
		delete(names, id)
	}
	return slices.Sorted(maps.Keys(names))
}

func (s *state) count(name string, places []uint32, most int) LabelCount {
	f := s.field(name)
	var counts []Count
	if f.isID() {
		byText := map[string]int{}
		for _, place := range places {
			byText[s.text(&s.metrics[place], f)]++
		}
		delete(byText, "")
		for value, n := range byText {
			counts = append(counts, Count{value, n})
		}
	} else {
		bySymbol := make([]uint32, len(s.texts))
		for _, place := range places {
			bySymbol[s.value(&s.metrics[place], f)]++
		}
		for value, n := range bySymbol {
			if value > 0 && n > 0 {
				counts = append(counts, Count{s.texts[value], int(n)})
			}
		}
	}
	return LabelCount{name, len(counts), top(counts, most)}
}

// counted is the last answers of Counts for clients who see everything, since consoles ask again and again.
type counted struct {
	sync.Map
	n atomic.Int32
}

// keep keeps an answer, unless it may be large or has a long question.
func (c *counted) keep(question string, most int, answer *Counts) {
	if most > 100 || len(question) > 4<<10 {
		return
	}
	if c.n.Add(1) > 16 {
		c.n.Store(0)
		c.Clear()
	}
	c.Store(question, answer)
}
