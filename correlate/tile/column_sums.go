package tile

import "math"

// Measured is what Measure finds in a column.
type Measured struct {
	N               int // values that are finite
	Sum             float64
	Lowest, Highest float64 // infinite if there is none
}

// lanes are sums, lowest and highest values of every eighth value: so many that a processor can add up at once.
type lanes [3][8]float64

// Measure looks at the finite values of x. All implementations sum eight interleaved parts.
func Measure(x []float64) Measured {
	var l lanes
	for i := range l[0] {
		l[1][i], l[2][i] = math.Inf(1), math.Inf(-1)
	}
	n := measure(&l, x)
	m := Measured{N: n, Lowest: l[1][0], Highest: l[2][0]}
	s := &l[0]
	m.Sum = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
	for i := range s {
		m.Lowest, m.Highest = min(m.Lowest, l[1][i]), max(m.Highest, l[2][i])
	}
	return m
}

// measureGo is what the assembly is held to, bit by bit.
func measureGo(l *lanes, x []float64) (n int) {
	for lane := range min(8, len(x)) {
		sum, lowest, highest := l[0][lane], l[1][lane], l[2][lane]
		for i := lane; i < len(x); i += 8 {
			v := x[i]
			if v-v != 0 {
				continue // NaN or infinite
			}
			n++
			sum += v
			if v < lowest {
				lowest = v
			}
			if v > highest {
				highest = v
			}
		}
		l[0][lane], l[1][lane], l[2][lane] = sum, lowest, highest
	}
	return n
}
