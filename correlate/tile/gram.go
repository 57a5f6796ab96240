package tile

import "math"

const (
	Panel = 8         // columns of a panel
	Wide  = 3 * Panel // columns on the wide side of a product
	Size  = Wide * Panel
)

// Gram sets dst[i*Panel+j] to the sum over rows of column i of the three panels at a (panel i/Panel, of stride values
// each) times column j of panel b. The number of rows is len(b)/Panel; a holds three panels of as many rows.
func Gram(dst *[Size]float64, a [3][]float64, b []float64) {
	rows := len(b) / Panel
	for _, panel := range a {
		if len(panel) < rows*Panel {
			panic("tile: panels of different lengths")
		}
	}
	if rows == 0 {
		*dst = [Size]float64{}
		return
	}
	gram(dst, a, b, rows)
}

// gramGo is Gram in plain Go. It is what the assembly is held to, bit by bit.
func gramGo(dst *[Size]float64, a [3][]float64, b []float64, rows int) {
	for p, panel := range a {
		for i := 0; i < Panel; i += 2 {
			for j := 0; j < Panel; j += 4 {
				var s00, s01, s02, s03, s10, s11, s12, s13 float64
				for k := 0; k < rows*Panel; k += Panel {
					x := panel[k+i : k+i+2 : k+i+2]
					y := b[k+j : k+j+4 : k+j+4]
					s00, s10 = math.FMA(x[0], y[0], s00), math.FMA(x[1], y[0], s10)
					s01, s11 = math.FMA(x[0], y[1], s01), math.FMA(x[1], y[1], s11)
					s02, s12 = math.FMA(x[0], y[2], s02), math.FMA(x[1], y[2], s12)
					s03, s13 = math.FMA(x[0], y[3], s03), math.FMA(x[1], y[3], s13)
				}
				at := (p*Panel+i)*Panel + j
				dst[at], dst[at+1], dst[at+2], dst[at+3] = s00, s01, s02, s03
				dst[at+Panel], dst[at+Panel+1], dst[at+Panel+2], dst[at+Panel+3] = s10, s11, s12, s13
			}
		}
	}
}
