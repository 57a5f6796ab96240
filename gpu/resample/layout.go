package resample

import "github.com/gnocco-db/gnocco/carbonara"

// layout is how a chunk's timestamps go to the device, the fewest bytes that all its series allow.
type layout int

const (
	layoutRegular    layout = iota // not at all: base + place * unit
	layoutOffsets                  // 4 bytes: multiples of a unit from the series' base
	layoutTimestamps               // 8 bytes: nanoseconds
)

// timestampBytes are what a timestamp takes, by layout.
var timestampBytes = [...]int{0, 4, 8}

// units of offsets, the widest first: measures come at whole seconds, milliseconds or microseconds.
var units = [...]carbonara.Timestamp{1e9, 1e6, 1e3, 1}

// fixed is a layout and its unit: the step of a regular series, 1 where the layout has none.
type fixed struct {
	layout layout
	unit   carbonara.Timestamp
}

// guess returns the layout that a few of a series' timestamps allow, so that all are read only once: packing finds out
// whether it holds. timestamps are ascending, at least one.
func guess(timestamps []carbonara.Timestamp) fixed {
	last := len(timestamps) - 1
	base, middle := timestamps[0], len(timestamps)/2
	if last == 0 {
		return fixed{layoutRegular, 1}
	}
	step, span := timestamps[1]-base, timestamps[last]-base
	if span == step*carbonara.Timestamp(last) && timestamps[middle]-base == step*carbonara.Timestamp(middle) {
		return fixed{layoutRegular, step}
	}
	for _, unit := range units {
		if span/unit >= 1<<32 {
			break // narrower units only make it more
		}
		if span%unit == 0 && step%unit == 0 && (timestamps[middle]-base)%unit == 0 {
			return fixed{layoutOffsets, unit}
		}
	}
	return fixed{layoutTimestamps, 1}
}

// layoutOf returns the best layout of one series, after reading all its timestamps.
func layoutOf(timestamps []carbonara.Timestamp) fixed {
	best := guess(timestamps)
	if best.layout == layoutRegular {
		if regular(timestamps, best.unit) {
			return best
		}
		best = fixed{layoutOffsets, units[0]}
	}
	span := timestamps[len(timestamps)-1] - timestamps[0]
	offset := make([]uint32, len(timestamps))
	for _, unit := range units {
		if best.layout == layoutOffsets && unit <= best.unit && span/unit < 1<<32 && offsets(offset, timestamps, unit) {
			return fixed{layoutOffsets, unit}
		}
	}
	return fixed{layoutTimestamps, 1}
}

// regular reports whether all timestamps lie a step apart.
func regular(timestamps []carbonara.Timestamp, step carbonara.Timestamp) bool {
	want, differ := timestamps[0], carbonara.Timestamp(0)
	for _, t := range timestamps {
		differ |= t ^ want
		want += step
	}
	return differ == 0
}

// offsets writes the distances from the first timestamp, in one of the units, and reports whether they are whole. The
// divisors are constants: division by them is multiplication.
func offsets(dst []uint32, timestamps []carbonara.Timestamp, unit carbonara.Timestamp) bool {
	base, differ := timestamps[0], uint64(0)
	dst = dst[:len(timestamps)]
	switch unit {
	case 1e9:
		for i, t := range timestamps {
			n := uint64(t-base) / 1e9
			dst[i] = uint32(n)
			differ |= n*1e9 ^ uint64(t-base)
		}
	case 1e6:
		for i, t := range timestamps {
			n := uint64(t-base) / 1e6
			dst[i] = uint32(n)
			differ |= n*1e6 ^ uint64(t-base)
		}
	case 1e3:
		for i, t := range timestamps {
			n := uint64(t-base) / 1e3
			dst[i] = uint32(n)
			differ |= n*1e3 ^ uint64(t-base)
		}
	case 1:
		for i, t := range timestamps {
			dst[i] = uint32(t - base)
		}
	default:
		panic("gpu: no unit of offsets")
	}
	return differ == 0
}

// places writes the offsets of a regular series among others, in its steps, and reports whether it is regular.
func places(dst []uint32, timestamps []carbonara.Timestamp, step carbonara.Timestamp) bool {
	dst = dst[:len(timestamps)]
	want, differ := timestamps[0], carbonara.Timestamp(0)
	for i, t := range timestamps {
		dst[i] = uint32(i)
		differ |= t ^ want
		want += step
	}
	return differ == 0
}
