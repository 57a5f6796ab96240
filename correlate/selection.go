package correlate

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
)

// Selection says which pairs are wanted. The zero value keeps all.
type Selection struct {
	MinAbs       float64 // least |R|; pairs without a coefficient are kept only if it is 0 and no top is asked for
	Top          int     // so many of the strongest pairs; 0: all
	TopPerColumn int     // pairs that are among the so many strongest of one of their columns; 0: all
}

// Selector takes pairs one by one, keeps those that a selection wants, and gives them out at the end. Without a top it hands
// them on at once.
type Selector struct {
	selection Selection
	each      func(Pair) error
	all       strongest
	columns   []strongest
}

// NewSelector returns a selector that hands the pairs of so many columns to each.
func NewSelector(selection Selection, columns int, each func(Pair) error) *Selector {
	s := &Selector{selection: selection, each: each}
	if selection.TopPerColumn > 0 {
		s.columns = make([]strongest, columns)
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
		s.columns[p.I].add(p, s.selection.TopPerColumn)
		s.columns[p.J].add(p, s.selection.TopPerColumn)
	case s.columns != nil:
	case s.selection.Top > 0:
		if !math.IsNaN(p.R) {
			s.all.add(p, s.selection.Top)
		}
	default:
		return s.each(p)
	}
	return nil
}

// Finish hands out the pairs of a top, strongest first over all, by I and J where every column has its own.
func (s *Selector) Finish() error {
	if s.columns != nil {
		var pairs []Pair
		for _, column := range s.columns {
			pairs = append(pairs, column...)
		}
		slices.SortFunc(pairs, func(a, b Pair) int { return cmp.Or(cmp.Compare(a.I, b.I), cmp.Compare(a.J, b.J)) })
		pairs = slices.CompactFunc(pairs, func(a, b Pair) bool { return a.I == b.I && a.J == b.J })
		if s.selection.Top == 0 {
			return s.out(pairs)
		}
		for _, p := range pairs {
			s.all.add(p, s.selection.Top)
		}
	}
	slices.SortFunc(s.all, func(a, b Pair) int {
		if weaker(a, b) {
			return 1
		}
		return -1
	})
	return s.out(s.all)
}

func (s *Selector) out(pairs []Pair) error {
	for _, p := range pairs {
		if err := s.each(p); err != nil {
			return err
		}
	}
	return nil
}

// weaker orders pairs: of equal strength, the one later in the triangle.
func weaker(a, b Pair) bool {
	return cmp.Or(cmp.Compare(a.Strength(), b.Strength()), cmp.Compare(b.I, a.I), cmp.Compare(b.J, a.J)) < 0
}

// strongest is a heap with the weakest pair on top.
type strongest []Pair

func (s *strongest) add(p Pair, most int) {
	switch {
	case len(*s) < most:
		heap.Push(s, p)
	case weaker((*s)[0], p):
		(*s)[0] = p
		heap.Fix(s, 0)
	}
}

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (s strongest) Len() int           { return len(s) }
func (s strongest) Less(i, j int) bool { return weaker(s[i], s[j]) }
func (s strongest) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *strongest) Push(p any)        { *s = append(*s, p.(Pair)) }
func (s *strongest) Pop() any {
	last := (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1]
	return last
}
