package gpu

// What correl.h says of tiles and segments.
const (
	correlPanel   = 128
	correlTile    = correlPanel * correlPanel
	correlSegment = 2048
	correlStep    = 16
	correlPlanes  = 8 // of state, of pairs with gaps

	correlMaxColumns = 1 << 16 // pairs are counted in 32 bits
)

// correlShape is what is known of a correlation before any row.
type correlShape struct {
	columns, panels int
	maxLag          int
	history         int // rows kept before a chunk's own, for lags: a multiple of correlStep
	chunk           int // own rows of a chunk
	pitch           int // rows from one column to the next
}

// correlChunkBytes is how much goes to a device together: some of them fit into the pinned memory beside each other.
const correlChunkBytes = 96 << 20

// newCorrelShape chooses how many rows go together; rows is how many there are in all, 0 if nobody knows.
func newCorrelShape(columns, maxLag, chunkBytes int, rows int64) correlShape {
	s := correlShape{columns: columns, panels: blocks(columns, correlPanel), maxLag: maxLag}
	s.history = blocks(maxLag, correlStep) * correlStep
	s.chunk = max(chunkBytes/(8*columns), correlStep)
	if s.chunk > correlSegment {
		s.chunk = s.chunk / correlSegment * correlSegment
	} else {
		s.chunk = s.chunk / correlStep * correlStep
	}
	if rows > 0 {
		s.chunk = int(min(int64(s.chunk), (rows+correlStep-1)/correlStep*correlStep))
	}
	s.pitch = s.history + s.chunk
	return s
}

// lags returns how many products there are: 0, 1, -1, 2, -2 and so on.
func (s *correlShape) lags() int { return 2*s.maxLag + 1 }

// lagOf returns the k-th lag.
func lagOf(k int) int {
	if k%2 == 1 {
		return (k + 1) / 2
	}
	return -k / 2
}

// sides is 1 without lags: then both columns of a pair come from the same rows.
func (s *correlShape) sides() int { return min(2, 1+s.maxLag) }

// above returns the number of the first tile above the diagonal in a row of tiles.
func (s *correlShape) above(row int) int { return row*(s.panels-1) - row*(row-1)/2 }

// correlRows is a band: the tiles of some rows of the upper triangle. The diagonal tiles of the other rows are computed, too.
type correlRows struct{ from, to int }

// tiles returns the number of tiles of a band.
func (s *correlShape) tiles(r correlRows) int { return s.panels + s.above(r.to) - s.above(r.from) }

// momentBytes is the memory of the state of so many tiles.
func (s *correlShape) momentBytes(tiles int, gaps bool) int64 {
	planes := int64(1)
	if gaps {
		planes = correlPlanes
	}
	return int64(tiles) * correlTile * 8 * planes * int64(s.lags())
}

// outcomeBytes is the memory of their coefficients, lags and shared rows.
func (s *correlShape) outcomeBytes(tiles int) int64 { return int64(tiles) * correlTile * (8 + 8 + 4) }

// bandFrom returns the largest band from a row of tiles on whose state and coefficients fit, and whether there is any.
func (s *correlShape) bandFrom(from int, memory int64, gaps bool) (correlRows, bool) {
	r := correlRows{from, from}
	for r.to < s.panels {
		wider := correlRows{from, r.to + 1}
		tiles := s.tiles(wider)
		if s.momentBytes(tiles, gaps)+s.outcomeBytes(tiles) > memory {
			break
		}
		r = wider
	}
	return r, r.to > from
}

// balance divides rows of tiles over so many devices: about as many tiles each. There may be fewer bands than devices.
func (s *correlShape) balance(all correlRows, devices int) []correlRows {
	var bands []correlRows
	left := s.above(all.to) - s.above(all.from) + all.to - all.from
	band, tiles := correlRows{all.from, all.from}, 0
	for band.to < all.to {
		tiles += s.panels - band.to
		band.to++
		if share := left / (devices - len(bands)); tiles >= share && len(bands) < devices-1 || band.to == all.to {
			bands = append(bands, band)
			left -= tiles
			band, tiles = correlRows{band.to, band.to}, 0
		}
	}
	return bands
}
