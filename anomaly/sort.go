package anomaly

import (
	"math"
	"slices"
)

// mostSpread and fewValues bound how many values sortFinite spreads: slices.Sort is as fast for fewer.
const mostSpread, fewValues = 256, 12

// sortFinite sorts values, one at least and none NaN. It spreads them over as many parts of equal width, which leaves
// most values of a window where they belong. A part with many of them, as beside an outlier, it spreads again, at most
// so many times.
func sortFinite(values []float64, times int) {
	least, largest, n := values[0], values[0], len(values)
	for _, v := range values {
		if v < least {
			least = v
		}
		if v > largest {
			largest = v
		}
	}
	scale := float64(n-1) / (largest - least)
	if n <= fewValues || n > mostSpread || times == 0 || !(scale > 0 && scale <= math.MaxFloat64) {
		slices.Sort(values)
		return
	}
	var spread [mostSpread]float64
	var ends [mostSpread]uint16 // of parts
	for _, v := range values {
		ends[uint8((v-least)*scale)]++
	}
	from := uint16(0)
	for part, count := range ends[:n] {
		ends[part], from = from, from+count
	}
	for _, v := range values {
		end := &ends[uint8((v-least)*scale)]
		spread[*end] = v
		*end++
	}
	from = 0
	for _, end := range ends[:n] {
		if end-from > fewValues {
			sortFinite(spread[from:end], times-1)
		}
		from = end
	}
	for i, v := range spread[:n] {
		for ; i > 0 && values[i-1] > v; i-- {
			values[i] = values[i-1]
		}
		values[i] = v
	}
}
