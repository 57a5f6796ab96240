package resample

import (
	"math/bits"
	"time"

	"github.com/gnocco-db/gnocco/gpu/cu"
	"github.com/gnocco-db/gnocco/gpu/device"
	"github.com/gnocco-db/gnocco/gpu/kernels"
)

// program is the resampler's kernels on one device.
type program struct {
	segments         [4]cu.Function // by layout; then from the runs of a finer granularity
	differences      cu.Function
	moments          [2][2]cu.Function // [long][m2]
	counts           cu.Function
	counters         [2]cu.Function // [long]
	momentsLevels    [2]cu.Function // [m2]
	extremes         cu.Function
	percentilesShort cu.Function
	percentilesWarp  cu.Function
	percentilesLong  cu.Function
	unpackValues     cu.Function
	unpackTimes      cu.Function
}

const segmentRuns = 3 // beside the three layouts

// Launch parameters, as in the sources of the kernels.
const (
	segmentThreads, segmentTile = 256, 8192
	segmentRunsTile             = 2048
	differencesThreads          = 256
	differencesTile             = 2048
	segmentChunk                = 256
	unpackThreads               = 128
	momentsThreads              = 128
	shortRuns, longRuns         = 128, 128 // a block
	placeThreads, placeValues   = 128, 1600
	sortThreads, sortRuns       = 128, 4 // of percentiles_warp and _long; runs a block takes at a time
	levelsAtOnce, levelThread   = 8, 32  // of moments_levels; threads for each granularity
	extremeThreads              = 128
	extremeRuns                 = 16  // a block
	countsRuns                  = 128 // a block, one a thread
	counterThreads              = 128
	// measures a run, from which a warp lane for each run beats copying whole stretches
	longFrom = 24
	fuseFrom = 200 // and from which several granularities are fused
)

func loadProgram(e *device.Engine) (*program, error) {
	module, err := e.Load(kernels.PTX)
	if err != nil {
		return nil, err
	}
	p := new(program)
	for name, function := range map[string]*cu.Function{
		"segment_timestamps": &p.segments[layoutTimestamps], "segment_offsets": &p.segments[layoutOffsets],
		"segment_regular": &p.segments[layoutRegular], "segment_runs": &p.segments[segmentRuns],
		"differences":         &p.differences,
		"moments_short_plain": &p.moments[0][0], "moments_short_m2": &p.moments[0][1],
		"moments_long_plain": &p.moments[1][0], "moments_long_m2": &p.moments[1][1],
		"moments_levels_plain": &p.momentsLevels[0], "moments_levels_m2": &p.momentsLevels[1],
		"extremes": &p.extremes, "counts": &p.counts,
		"counters_short": &p.counters[0], "counters_long": &p.counters[1],
		"unpack_values": &p.unpackValues, "unpack_times": &p.unpackTimes,
		"percentiles_short": &p.percentilesShort, "percentiles_warp": &p.percentilesWarp,
		"percentiles_long": &p.percentilesLong,
	} {
		if *function, err = module.Function(name); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// divisor returns the multiplier and shift by which segment.cu divides a timestamp by a granularity: exact for all that
// are not negative. With l = ceil(log2 width), the multiplier is ceil(2^(63+l) / width), which is less than 2^64.
func divisor(width time.Duration) (magic uint64, shift uint32) {
	if width == 1 {
		return 0, 255
	}
	l := bits.Len64(uint64(width - 1))
	high, low := uint64(0), uint64(0)
	if l > 0 {
		high = 1 << (l - 1)
	}
	// ceil(2^(63+l) / width) = floor((2^(63+l) + width - 1) / width)
	low = uint64(width - 1)
	magic, _ = bits.Div64(high, low, uint64(width))
	return magic, uint32(l - 1)
}

// nearDivisor returns a division in 32 bits: the multiplier and shift for width without its factors of two, exact below
// 2^31, and the number of these factors. For a larger divisor, the quotient is 0 and so is the multiplier.
func nearDivisor(width time.Duration) (magic, shift, twos uint32) {
	twos = uint32(bits.TrailingZeros64(uint64(width)))
	odd := uint64(width) >> twos
	switch l := bits.Len64(odd - 1); {
	case odd == 1: // 2^32 would be the multiplier
		return 1 << 31, 0, max(twos, 1) - 1 // of width 1 the kernel knows by itself
	case l > 31:
		return 0, 0, twos
	default:
		return uint32((1<<(31+l) + odd - 1) / odd), uint32(l - 1), twos
	}
}
