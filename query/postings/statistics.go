package postings

import (
	"cmp"
	"context"
	"slices"
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
		err := s.each(ctx, sees, nil, func(place uint32) {
			m := &s.metrics[place]
			out.Series++
			names[s.nameOf(m)]++
			if meter, ok := s.meterOf(m); ok {
				s.naming.each(s, m, meter, func(label pair) { pairs[label]++ })
				return
			}
			if m.resource == none {
				return
			}
			if !seen[m.resource] {
				seen[m.resource] = true
				if !s.resources[m.resource].pushed {
					resources++
				}
			}
			for _, label := range s.resources[m.resource].labels {
				pairs[label]++
			}
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

func top(counts []Count, most int) []Count {
	slices.SortFunc(counts, func(a, b Count) int { return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Name, b.Name)) })
	return counts[:min(most, len(counts))]
}
