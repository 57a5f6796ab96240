package correlate

import (
	"context"
	"sync/atomic"

	"github.com/gnocco-db/gnocco/correlate/tile"
)

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
