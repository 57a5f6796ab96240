package correlatetest

import (
	"math"
	"math/big"
)

// precision in bits of the reference: products of float64 and sums of a million of them are exact at it, in effect.
const precision = 400

func exact(v float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(v) }

// Reference computes the coefficient of two columns, y being lag rows later, in two passes, and the rows that both
// have.
func Reference(x, y []float64, lag int) (r float64, overlap int64) {
	var xs, ys []*big.Float
	sumX, sumY := exact(0), exact(0)
	for t := range x {
		if u := t + lag; u >= 0 && u < len(y) && x[t]-x[t] == 0 && y[u]-y[u] == 0 {
			xs, ys = append(xs, exact(x[t])), append(ys, exact(y[u]))
			sumX.Add(sumX, exact(x[t]))
			sumY.Add(sumY, exact(y[u]))
		}
	}
	if len(xs) < 2 {
		return math.NaN(), int64(len(xs))
	}
	n := exact(float64(len(xs)))
	sumX.Quo(sumX, n)
	sumY.Quo(sumY, n)
	xx, yy, xy := exact(0), exact(0), exact(0)
	product := exact(0)
	constantX, constantY := true, true
	for k := range xs {
		constantX = constantX && (k == 0 || xs[k].Cmp(xs[0]) == 0)
		constantY = constantY && (k == 0 || ys[k].Cmp(ys[0]) == 0)
	}
	if constantX || constantY {
		return math.NaN(), int64(len(xs))
	}
	for k := range xs {
		dx, dy := exact(0).Sub(xs[k], sumX), exact(0).Sub(ys[k], sumY)
		xx.Add(xx, product.Mul(dx, dx))
		yy.Add(yy, product.Mul(dy, dy))
		xy.Add(xy, product.Mul(dx, dy))
	}
	root := exact(0).Sqrt(xx.Mul(xx, yy))
	r, _ = xy.Quo(xy, root).Float64()
	return r, int64(len(xs))
}
