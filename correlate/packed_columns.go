package correlate

import (
	"math"
	"math/bits"

	"github.com/gnocco-db/gnocco/correlate/tile"
)

// side is rows of all columns, packed into panels: one of the two sides of a product of columns. A column that a panel
// has too many is all zero.
type side struct {
	rows  int
	raw   [][]float64 // the rows as they came
	parts []part      // by column
	gaps  bool        // some column has some

	values  [][]float64 // by panel: differences from the centre, scaled; 0 for missing
	present [][]float64 // by panel: 1 where there is a value, else 0
	squares [][]float64 // by panel: of values
}

func panelsOf(columns int) int { return (columns + tile.Panel - 1) / tile.Panel }

// reset makes room for rows of these columns, which stay the caller's.
func (s *side) reset(raw [][]float64) {
	s.raw, s.rows, s.gaps = raw, len(raw[0]), false
	if s.parts == nil {
		panels := panelsOf(len(raw))
		s.parts = make([]part, panels*tile.Panel)
		s.values = make([][]float64, panels)
		s.present = make([][]float64, panels)
		s.squares = make([][]float64, panels)
	}
}

// adopt makes the rows of another side ours, with their measurements.
func (s *side) adopt(other *side) {
	s.reset(other.raw)
	s.gaps = other.gaps
	s.parts, other.parts = other.parts, s.parts
}

// measure finds centre, range and gaps of a column.
func (s *side) measure(j int) {
	p := &s.parts[j]
	*p = part{pre: 1}
	if j >= len(s.raw) {
		return
	}
	x := s.raw[j]
	found := tile.Measure(x) // NaN and infinities are missing
	lowest, highest, sum := found.Lowest, found.Highest, found.Sum
	p.n, p.gaps = float64(found.N), found.N < len(x)
	if found.N == 0 {
		return
	}
	p.lowest, p.highest = lowest, highest
	if p.constant = lowest == highest; p.constant {
		p.centre = lowest
		return
	}
	if max(-lowest, highest) >= 1e300 { // sums and differences may be out of range
		p.pre = 0x1p-100
		sum = 0
		for _, v := range x {
			if v-v == 0 {
				sum += float64(v * p.pre) // not fused, as below
			}
		}
		p.centre = sum / p.n / p.pre
	} else {
		p.centre = sum / p.n
	}
	p.centre = max(lowest, min(highest, p.centre))
	quarter := float64(p.centre / 4)
	p.spread = max(float64(highest/4)-quarter, quarter-float64(lowest/4))
	p.spread = min(p.spread, math.MaxFloat64/4) * 4
}

// pack fills panel p once the columns' scales are known.
func (s *side) pack(p int, columns []column, masked bool) {
	size := s.rows * tile.Panel
	out := resize(&s.values[p], size)
	if s.packWhole(p, columns, out) {
		if masked {
			s.mask(p, out)
		}
		return
	}
	for c := range tile.Panel {
		j := p*tile.Panel + c
		part := &s.parts[j]
		if j >= len(s.raw) || part.n == 0 || part.constant {
			for k := c; k < size; k += tile.Panel {
				out[k] = 0
			}
			continue
		}
		pre, post := part.pre, columns[j].scale()/part.pre
		centre := float64(part.centre * pre)
		for k, v := range s.raw[j] {
			d := 0.
			if v-v == 0 {
				d = (float64(v*pre) - centre) * post
			}
			out[k*tile.Panel+c] = d
		}
	}
	s.sum(p, out)
	if masked {
		s.mask(p, out)
	}
}

// packWhole is pack where all columns are there, have no gaps and stay in range, as most do; else it returns false.
func (s *side) packWhole(p int, columns []column, out []float64) bool {
	first := p * tile.Panel
	if first+tile.Panel > len(s.raw) {
		return false
	}
	parts := s.parts[first : first+tile.Panel]
	var packing tile.Packing
	for c := range parts {
		if parts[c].gaps || parts[c].n == 0 || parts[c].pre != 1 {
			return false
		}
		packing.Centres[c], packing.Scales[c] = parts[c].centre, columns[first+c].scale()
	}
	tile.Pack(out, (*[tile.Panel][]float64)(s.raw[first:]), &packing)
	for c := range parts {
		parts[c].sum, parts[c].squares = packing.Sums[c], packing.Squares[c]
	}
	return true
}

// sum adds up the columns of a packed panel as tile.Pack does.
func (s *side) sum(p int, out []float64) {
	var sums, squares [tile.Panel]float64
	for len(out) >= tile.Panel {
		row := (*[tile.Panel]float64)(out)
		for c, d := range row {
			sums[c] += d
			squares[c] = math.FMA(d, d, squares[c])
		}
		out = out[tile.Panel:]
	}
	for c := range tile.Panel {
		s.parts[p*tile.Panel+c].sum, s.parts[p*tile.Panel+c].squares = sums[c], squares[c]
	}
}

// mask fills the panels that pairs with gaps need.
func (s *side) mask(p int, out []float64) {
	present, squares := resize(&s.present[p], len(out)), resize(&s.squares[p], len(out))
	for i, d := range out {
		squares[i] = d * d
	}
	for c := range tile.Panel {
		j := p*tile.Panel + c
		for k := range s.rows {
			at := k*tile.Panel + c
			present[at] = 0
			if j < len(s.raw) {
				if v := s.raw[j][k]; v-v == 0 {
					present[at] = 1
				}
			}
		}
	}
}

// resize makes a slice that long, keeping its memory.
func resize(s *[]float64, n int) []float64 {
	if cap(*s) < n {
		*s = make([]float64, n, 1<<bits.Len(uint(n-1)))
	}
	*s = (*s)[:n]
	return *s
}
