package correlate

import (
	"cmp"
	"math"
	"slices"

	"github.com/gnocco-db/gnocco/internal/parallel"
)

// Selection says which pairs are wanted. The zero value keeps all.
type Selection struct {
	MinAbs       float64 // least |R|; pairs without a coefficient are kept only if it is 0 and no top is asked for
	Top          int     // so many of the strongest pairs; 0: all
	TopPerColumn int     // pairs that are among the so many strongest of one of their columns; 0: all
}

// eligible reports whether a pair has a coefficient, and is as strong as s asks for.
func (s *Selection) eligible(p Pair) bool { return p.Strength() >= max(0, s.MinAbs) }

// Selector takes pairs one by one, keeps those that a selection wants, and gives them out at the end. Without a top it
// hands them on at once.
type Selector struct {
	selection Selection
	each      func(Pair) error
	all       []Pair
	columns   [][]Pair

	// leastOfAll and least are strengths below which a pair is not among the strongest: over all, and of each column.
	// Of thousands of columns, the pairs are far more than the caches hold, and nearly all others are too weak.
	leastOfAll float64
	least      []float64
}

// NewSelector returns a selector that hands the pairs of so many columns to each.
func NewSelector(selection Selection, columns int, each func(Pair) error) *Selector {
	s := &Selector{selection: selection, each: each}
	if selection.TopPerColumn > 0 {
		s.columns, s.least = make([][]Pair, columns), make([]float64, columns)
	}
	return s
}

// Add takes a pair.
func (s *Selector) Add(p Pair) error {
	if s.selection.MinAbs > 0 && !(math.Abs(p.R) >= s.selection.MinAbs) {
		return nil
	}
	switch {
	case s.columns != nil && !math.IsNaN(p.R):
		s.addTo(p.I, p)
		s.addTo(p.J, p)
	case s.columns != nil:
	case s.selection.Top > 0:
		if !math.IsNaN(p.R) {
			s.all = addStrong(s.all, p, s.selection.Top, &s.leastOfAll)
		}
	default:
		return s.each(p)
	}
	return nil
}

// addTo takes an eligible pair for one of its columns only. Different columns may be added to at the same time.
func (s *Selector) addTo(column int, p Pair) {
	s.columns[column] = addStrong(s.columns[column], p, s.selection.TopPerColumn, &s.least[column])
}

// Finish hands out the pairs of a top, strongest first over all, by I and J where every column has its own.
func (s *Selector) Finish() error {
	if s.columns != nil {
		pairs := make([][]Pair, len(s.columns)) // by I
		workers := parallel.Workers(len(s.columns))
		_ = parallel.Each(workers, len(s.columns), func(j int) error {
			s.columns[j] = keepStrongest(s.columns[j], s.selection.TopPerColumn)
			return nil
		})
		for _, column := range s.columns {
			for _, p := range column {
				pairs[p.I] = append(pairs[p.I], p)
			}
		}
		_ = parallel.Each(workers, len(s.columns), func(i int) error {
			slices.SortFunc(pairs[i], inTriangle)
			pairs[i] = slices.CompactFunc(pairs[i], func(a, b Pair) bool { return a.J == b.J })
			return nil
		})
		for _, some := range pairs {
			if s.selection.Top == 0 {
				if err := s.out(some); err != nil {
					return err
				}
				continue
			}
			for _, p := range some {
				s.all = addStrong(s.all, p, s.selection.Top, &s.leastOfAll)
			}
		}
	}
	return s.out(keepStrongest(s.all, s.selection.Top))
}

func (s *Selector) out(pairs []Pair) error {
	for _, p := range pairs {
		if err := s.each(p); err != nil {
			return err
		}
	}
	return nil
}

// addStrong adds p to best, unless it is weaker than least. Best holds up to twice the most that are wanted before it
// is sorted out, which raises least: writing one place after the other, it touches less memory than a heap.
func addStrong(best []Pair, p Pair, most int, least *float64) []Pair {
	if p.Strength() < *least {
		return best
	}
	best = append(best, p)
	if len(best) >= 2*most {
		best = keepStrongest(best, most)
		*least = best[most-1].Strength()
	}
	return best
}

// keepStrongest sorts pairs, strongest first, of equal strength those earlier in the triangle, and returns the first
// most.
func keepStrongest(pairs []Pair, most int) []Pair {
	slices.SortFunc(pairs, func(a, b Pair) int {
		if c := cmp.Compare(b.Strength(), a.Strength()); c != 0 { // nearly always
			return c
		}
		return inTriangle(a, b)
	})
	return pairs[:min(most, len(pairs))]
}

// inTriangle compares the places of pairs, by I and J.
func inTriangle(a, b Pair) int {
	if a.I != b.I {
		return a.I - b.I
	}
	return a.J - b.J
}
