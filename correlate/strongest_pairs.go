package correlate

import (
	"context"
	"iter"
	"sync/atomic"

	"github.com/gnocco-db/gnocco/correlate/tile"
	"github.com/gnocco-db/gnocco/internal/parallel"
)

// strongestOfAll adds to a selector the pairs of a band that may be among the strongest of all, and returns how many
// are eligible. All cores look for them: first at how many there are of each strength, then for those that are strong
// enough. So no core keeps, and sorts, pairs that another one's make needless.
func (m *Matrix) strongestOfAll(ctx context.Context, b band, s *Selector) (int64, error) {
	workers := len(m.workers)
	counts := make([]strengths, workers)
	if err := m.eachPair(ctx, b, s, func(w int, p Pair) { counts[w][strengthOf(p)]++ }); err != nil {
		return 0, err
	}
	all := &counts[0]
	eligible := int64(0)
	for k := range all {
		for w := 1; w < workers; w++ {
			all[k] += counts[w][k]
		}
		eligible += all[k]
	}
	least, left := 0, int64(s.selection.Top)
	for k := len(all) - 1; k > 0 && left > 0; k-- {
		least, left = k, left-all[k]
	}
	if left > 0 {
		least = 0 // there are not that many
	}
	found := make([]struct {
		best  []Pair
		least float64
	}, workers)
	if err := m.eachPair(ctx, b, s, func(w int, p Pair) {
		if strengthOf(p) >= least { // of equally strong ones there may be any number
			found[w].best = addStrong(found[w].best, p, s.selection.Top, &found[w].least)
		}
	}); err != nil {
		return 0, err
	}
	for w := range found {
		for _, p := range found[w].best {
			if err := s.Add(p); err != nil {
				return 0, err
			}
		}
	}
	return eligible, nil
}

// strengths are numbers of pairs by their strength, from 0 to 1.
type strengths [1<<14 + 1]int64

func strengthOf(p Pair) int { return int(p.Strength() * (1 << 14)) }

// eachPair hands the eligible pairs of a band to f, from several goroutines, each of which has a number.
func (m *Matrix) eachPair(ctx context.Context, b band, s *Selector, f func(worker int, p Pair)) error {
	const rows = 8 // taken at a time: those above are longer than those below
	columns := m.options.Columns
	first, to := b.from*tile.Wide, min(b.to*tile.Wide, columns)
	n := (to - first + rows - 1) / rows
	return parallel.Run(ctx, len(m.workers), n, func(ctx context.Context, w int, jobs iter.Seq[int]) error {
		for k := range jobs {
			from := first + k*rows
			for i := from; i < min(from+rows, to); i++ {
				if err := ctx.Err(); err != nil {
					return err
				}
				for j := i + 1; j < columns; j++ {
					if p := m.Pair(i, j); s.selection.eligible(p) {
						f(w, p)
					}
				}
			}
		}
		return nil
	})
}

// strongest adds a band's pairs to a selector that keeps the strongest of every column, and returns how many are
// eligible. Every pair is looked at for either of its columns: so a column is one goroutine's, which finds all that it
// needs in the cache.
func (m *Matrix) strongest(ctx context.Context, b band, s *Selector) (int64, error) {
	var eligible atomic.Int64
	columns := m.options.Columns
	from, to := b.from*tile.Wide, min(b.to*tile.Wide, columns)
	m.parallel(panelsOf(columns), func(_ *multiplication, panel int) {
		if ctx.Err() != nil {
			return
		}
		n := int64(0)
		for j := panel * tile.Panel; j < min((panel+1)*tile.Panel, columns); j++ {
			for i := from; i < min(j, to); i++ {
				if p := m.Pair(i, j); s.selection.eligible(p) {
					s.addTo(j, p)
				}
			}
			if j < from || j >= to {
				continue
			}
			for k := j + 1; k < columns; k++ {
				if p := m.Pair(j, k); s.selection.eligible(p) {
					s.addTo(j, p)
					n++
				}
			}
		}
		eligible.Add(n)
	})
	return eligible.Load(), ctx.Err()
}
