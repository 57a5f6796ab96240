package gpu

import "gnocco/carbonara"

// layout is how a piece's timestamps go to the device, the fewest bytes that all its series allow.
type layout int

const (
	layoutRegular    layout = iota // not at all: base + place * unit
	layoutOffsets                  // 4 bytes: multiples of a unit from the series' base
	layoutTimestamps               // 8 bytes: nanoseconds
)

// units of offsets, the widest first: measures come at whole seconds, milliseconds or microseconds.
var units = [...]carbonara.Timestamp{1e9, 1e6, 1e3, 1}

// layoutOf returns the best layout of one series and its unit. timestamps are ascending, at least one.
func layoutOf(timestamps []carbonara.Timestamp) (layout, carbonara.Timestamp) {
	if len(timestamps) == 1 {
		return layoutRegular, 1
	}
	step, regular := timestamps[1]-timestamps[0], true
	for i := 2; i < len(timestamps); i++ {
		if timestamps[i]-timestamps[i-1] != step {
			regular = false
			break
		}
	}
	if regular {
		return layoutRegular, step
	}
	span := timestamps[len(timestamps)-1] - timestamps[0]
	for i, unit := range units {
		if span/unit >= 1<<32 {
			break // narrower units only make it more
		}
		if multiples(timestamps, i) {
			return layoutOffsets, unit
		}
	}
	return layoutTimestamps, 1
}

// multiples tells whether all timestamps lie whole units from the first. The divisors are constants: division by them is
// multiplication.
func multiples(timestamps []carbonara.Timestamp, unit int) bool {
	base := timestamps[0]
	switch unit {
	case 0:
		for _, t := range timestamps {
			if uint64(t-base)%1e9 != 0 {
				return false
			}
		}
	case 1:
		for _, t := range timestamps {
			if uint64(t-base)%1e6 != 0 {
				return false
			}
		}
	case 2:
		for _, t := range timestamps {
			if uint64(t-base)%1e3 != 0 {
				return false
			}
		}
	}
	return true
}

// offsets writes the distances from the first timestamp, in units.
func offsets(dst []uint32, timestamps []carbonara.Timestamp, unit carbonara.Timestamp) {
	base := timestamps[0]
	switch unit {
	case 1e9:
		for i, t := range timestamps {
			dst[i] = uint32(uint64(t-base) / 1e9)
		}
	case 1e6:
		for i, t := range timestamps {
			dst[i] = uint32(uint64(t-base) / 1e6)
		}
	case 1e3:
		for i, t := range timestamps {
			dst[i] = uint32(uint64(t-base) / 1e3)
		}
	case 1:
		for i, t := range timestamps {
			dst[i] = uint32(t - base)
		}
	default: // a regular series among others
		for i := range timestamps {
			dst[i] = uint32(i)
		}
	}
}
