package correlate

import "github.com/gnocco-db/gnocco/gpu/device"

// Tiles and segments, as in correl.h.
const (
	panelColumns = 128
	tileElements = panelColumns * panelColumns
	segmentRows  = 2048
	stepRows     = 16
	gapPlanes    = 8 // of state, of pairs with gaps

	maxColumns = 1 << 16 // pairs are counted in 32 bits
)

// shape is what is known of a correlation before any row.
type shape struct {
	columns, panels int
	maxLag          int
	history         int // rows kept before a chunk's own, for lags: a multiple of stepRows
	chunk           int // own rows of a chunk
	pitch           int // rows from one column to the next
}

// defaultChunkBytes is how much goes to a device together: some of them fit into the pinned memory beside each other.
const defaultChunkBytes = 96 << 20

// newShape chooses how many rows go together; rows is how many there are in all, 0 if nobody knows.
func newShape(columns, maxLag, chunkBytes int, rows int64) shape {
	s := shape{columns: columns, panels: device.Blocks(columns, panelColumns), maxLag: maxLag}
	s.history = device.Blocks(maxLag, stepRows) * stepRows
	s.chunk = max(chunkBytes/(8*columns), stepRows)
	if s.chunk > segmentRows {
		s.chunk = s.chunk / segmentRows * segmentRows
	} else {
		s.chunk = s.chunk / stepRows * stepRows
	}
	if rows > 0 {
		s.chunk = int(min(int64(s.chunk), (rows+stepRows-1)/stepRows*stepRows))
	}
	s.pitch = s.history + s.chunk
	return s
}

// lags returns how many products there are: 0, 1, -1, 2, -2 and so on.
func (s *shape) lags() int { return 2*s.maxLag + 1 }

// lagOf returns the k-th lag.
func lagOf(k int) int {
	if k%2 == 1 {
		return (k + 1) / 2
	}
	return -k / 2
}

// sides is 1 without lags: then both columns of a pair come from the same rows.
func (s *shape) sides() int { return min(2, 1+s.maxLag) }

// above returns the number of the first tile above the diagonal in a row of tiles.
func (s *shape) above(row int) int { return row*(s.panels-1) - row*(row-1)/2 }

// tileRows is a band: the tiles of some rows of the upper triangle. The diagonal tiles of the other rows are also
// computed.
type tileRows struct{ from, to int }

// tiles returns the number of tiles of a band.
func (s *shape) tiles(r tileRows) int { return s.panels + s.above(r.to) - s.above(r.from) }

// momentBytes is the memory of the state of so many tiles.
func (s *shape) momentBytes(tiles int, gaps bool) int64 {
	planes := int64(1)
	if gaps {
		planes = gapPlanes
	}
	return int64(tiles) * tileElements * 8 * planes * int64(s.lags())
}

// outcomeBytes is the memory of their coefficients, lags and shared rows.
func (s *shape) outcomeBytes(tiles int) int64 { return int64(tiles) * tileElements * (8 + 8 + 4) }

// bandFrom returns the largest band from a row of tiles on whose state and coefficients fit, and whether there is any.
func (s *shape) bandFrom(from int, memory int64, gaps bool) (tileRows, bool) {
	r := tileRows{from, from}
	for r.to < s.panels {
		wider := tileRows{from, r.to + 1}
		tiles := s.tiles(wider)
		if s.momentBytes(tiles, gaps)+s.outcomeBytes(tiles) > memory {
			break
		}
		r = wider
	}
	return r, r.to > from
}

// balance divides rows of tiles over so many devices: about as many tiles each. There may be fewer bands than devices.
func (s *shape) balance(all tileRows, devices int) []tileRows {
	var bands []tileRows
	left := s.above(all.to) - s.above(all.from) + all.to - all.from
	band, tiles := tileRows{all.from, all.from}, 0
	for band.to < all.to {
		tiles += s.panels - band.to
		band.to++
		if share := left / (devices - len(bands)); tiles >= share && len(bands) < devices-1 || band.to == all.to {
			bands = append(bands, band)
			left -= tiles
			band, tiles = tileRows{band.to, band.to}, 0
		}
	}
	return bands
}
