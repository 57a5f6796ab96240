package gpu

import (
	"math/bits"
	"time"

	"gnocco/gpu/cu"
	"gnocco/gpu/kernels"
)

// program is the resampler's kernels on one device.
type program struct {
	cut              [4]cu.Function // by layout; then from the runs of a finer granularity
	differences      cu.Function
	moments          [2][2]cu.Function // [long][m2]
	percentilesShort cu.Function
	percentilesLong  cu.Function
}

const cutRuns = 3 // beside the three layouts

// What the sources of the kernels say of their launches.
const (
	cutThreads, cutTile       = 256, 2048
	cutChunk                  = 256
	momentsThreads            = 128
	shortRuns, longRuns       = 128, 128 // a block
	placeThreads, placeValues = 128, 1600
	sortThreads               = 128
	longFrom                  = 24 // measures a run, from which a lane for each run beats copying whole stretches
)

func loadProgram(e *Engine) (*program, error) {
	module, err := e.Load(kernels.PTX)
	if err != nil {
		return nil, err
	}
	p := new(program)
	for name, function := range map[string]*cu.Function{
		"cut_timestamps": &p.cut[layoutTimestamps], "cut_offsets": &p.cut[layoutOffsets], "cut_regular": &p.cut[layoutRegular],
		"cut_runs": &p.cut[cutRuns], "differences": &p.differences,
		"moments_short_plain": &p.moments[0][0], "moments_short_m2": &p.moments[0][1],
		"moments_long_plain": &p.moments[1][0], "moments_long_m2": &p.moments[1][1],
		"percentiles_short": &p.percentilesShort, "percentiles_long": &p.percentilesLong,
	} {
		if *function, err = module.Function(name); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// divisor returns the multiplier and shift by which cut.cu divides a timestamp by a granularity: exact for all that are not
// negative. With l = ceil(log2 width), the multiplier is ceil(2^(63+l) / width), which is less than 2^64.
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
