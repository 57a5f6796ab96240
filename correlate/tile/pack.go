package tile

import "math"

// Packing is how the columns of a panel are packed, and what they come to.
type Packing struct {
	Centres, Scales [Panel]float64
	Sums, Squares   [Panel]float64 // of the packed values
}

// Pack fills dst with (value - centre) * scale of the columns; each must have a value for every row of dst. It adds up
// the results: sums in the order of rows, squares as Gram does, so that a column's square is its product with itself to
// the bit.
func Pack(dst []float64, columns *[Panel][]float64, p *Packing) {
	rows := len(dst) / Panel
	for _, column := range columns {
		if len(column) < rows {
			panic("tile: a column has too few rows")
		}
	}
	p.Sums, p.Squares = [Panel]float64{}, [Panel]float64{}
	done := pack(dst, columns, p, rows)
	packGo(dst, columns, p, done, rows)
}

// packGo packs rows from one on. It is what the assembly is held to, bit by bit.
func packGo(dst []float64, columns *[Panel][]float64, p *Packing, from, to int) {
	for c, column := range columns {
		centre, scale, sum, square := p.Centres[c], p.Scales[c], p.Sums[c], p.Squares[c]
		for k, v := range column[from:to] {
			d := float64((v - centre) * scale) // rounded before it is added, on every machine
			dst[(from+k)*Panel+c] = d
			sum += d
			square = math.FMA(d, d, square)
		}
		p.Sums[c], p.Squares[c] = sum, square
	}
}
