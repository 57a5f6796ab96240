package correlate

import "math"

// mean is a sum of two float64: with means of 1e8 standard deviations, one would not tell apart those of two chunks.
type mean struct{ high, low float64 }

// add returns m + d.
func (m mean) add(d float64) mean {
	low := m.low + d
	high := m.high + low
	return mean{high, low - (high - m.high)}
}

// minus returns (m - other) * scale, also where the difference itself is out of range.
func (m mean) minus(other mean, scale float64) float64 {
	d := m.high - other.high
	if math.IsInf(d, 0) {
		return float64((float64(m.high/4) - float64(other.high/4)) * (4 * scale)) // not fused, here and below
	}
	return float64((d + (m.low - other.low)) * scale)
}

// part is what rows of one column come to, centred and scaled: with d = (value - centre) * scale, the number of values,
// the sum of d, which is nearly 0, and of its squares.
type part struct {
	n               float64
	centre          float64
	sum, squares    float64
	gaps            bool    // some values are missing
	constant        bool    // all values are equal
	spread          float64 // largest |value - centre|, unscaled
	pre             float64 // power of two that values are multiplied by first, so that differences stay in range
	lowest, highest float64

	// Against all rows before:
	before float64 // how many values those have
	delta  float64 // our mean less theirs, scaled
}

// mean returns the mean of the values.
func (p *part) mean(scale float64) mean {
	if p.n == 0 || p.sum == 0 {
		return mean{p.centre, 0}
	}
	return mean{p.centre, 0}.add(p.sum / p.n / scale)
}

// moment returns the sum of squared differences from the mean.
func (p *part) moment() float64 {
	if p.n == 0 {
		return 0
	}
	return p.squares - p.sum*p.sum/p.n
}

// column is what all rows of one column come to so far.
type column struct {
	n        float64
	mean     mean
	moment   float64 // sum of squared differences from the mean, scaled
	exponent int     // the scale is 2^-exponent; it follows the largest difference seen
	scaled   bool    // exponent has been chosen
}

// scaleSlack is by how many powers of two differences may outgrow the scale before it follows.
const scaleSlack = 200

// maxExponent keeps scales, and their squares times differences, in range.
const maxExponent = 1000

func (c *column) scale() float64 { return math.Ldexp(1, -c.exponent) }

// scaleFor chooses the scale when a chunk's differences are known, and tells by which power of two sums so far have to
// be multiplied for it: 0 for no change. Differences of very different sizes are rare, so the first choice usually
// holds.
func (c *column) scaleFor(p *part) (rescale int) {
	largest := p.spread
	if c.n > 0 && p.n > 0 {
		largest = max(largest, math.Abs(float64(p.centre/4)-float64(c.mean.high/4))*4)
		if math.IsInf(largest, 0) {
			largest = math.MaxFloat64
		}
	}
	if largest == 0 || p.n == 0 {
		return 0
	}
	_, exponent := math.Frexp(largest)
	exponent = max(-maxExponent, min(maxExponent, exponent))
	if c.scaled && exponent <= c.exponent+scaleSlack {
		return 0
	}
	if c.scaled {
		rescale = c.exponent - exponent
	}
	c.exponent, c.scaled = exponent, true
	c.moment = math.Ldexp(c.moment, 2*rescale)
	return rescale
}

// keepsScale reports whether scaleFor of p is sure to change nothing, for any means of chunks in between: largest is
// the largest absolute value of those means, and of ours.
func (c *column) keepsScale(p *part, largest float64) bool {
	if !c.scaled {
		return p.constant && c.n > 0 && p.centre == c.mean.high
	}
	largest = 4 * max(largest, math.Abs(c.mean.high)) // no difference of two of them is more
	_, exponent := math.Frexp(largest)
	return !math.IsInf(largest, 0) && exponent <= c.exponent+scaleSlack
}

// merge adds the chunk p (Chan, Golub and LeVeque), and notes in p what was before it.
func (c *column) merge(p *part) {
	p.before, p.delta = c.n, 0
	if p.n == 0 {
		return
	}
	n, scale := c.n+p.n, c.scale()
	m := p.mean(scale)
	if c.n > 0 {
		p.delta = m.minus(c.mean, scale)
	}
	c.moment = merge(c.moment, p.squares, p.sum, p.sum, p.n, p.delta, p.delta, c.n*p.n/n)
	if c.n == 0 {
		c.mean = m
	} else {
		c.mean = c.mean.add(p.delta * (p.n / n) / scale)
	}
	c.n = n
}

// merge returns a co-moment with a chunk's added: the sum of products there, the sums of its two columns, its rows, by
// how much its means lie beside ours, and the product of both numbers of rows by their sum. The roundings are the same
// in either order of the two columns, and for a column with itself.
func merge(moment, products, sumX, sumY, n, deltaX, deltaY, weight float64) float64 {
	return moment + (float64(products-float64(float64(sumX*sumY)/n)) + float64(float64(deltaX*deltaY)*weight))
}
