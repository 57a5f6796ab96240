// Package kernels holds the kernels of the resampler on a CUDA device: their sources, and the PTX that clang makes of
// them, which the driver compiles for the device at hand. They need no header or library of the vendor's, and compile
// for the host, too (host.h), where tests run them beside the CPU's resampler.
//
// Read group_runs.h first, then segment.cu, moments.h, moments_short.cu and percentiles_short.cu; packed_stream.h and
// unpack.cu read packed series. Every file says its formula, the layout of its arrays, its launch shape, the bytes it
// moves, and in which order it adds.
//
//	unpack       vectors of the archive to timestamps and values
//	segment      timestamps to runs: the measures of one group each, at every granularity
//	differences  what rate: methods are computed over
//	moments      count, sum, min, max, m2, first, last of each run: for short runs, and for long ones
//	percentiles  any percentiles of each run: for short runs, and for long ones
//
// The correlator's are apart (correl.cu, correl.h): read correl_gram.cu first.
//
//	correl_centres       a value near the middle of each column's rows
//	correl_gram          sums of products of all pairs of columns, on tensor cores; correl_plain without them
//	correl_sides         columns centred beforehand, for lags and gaps
//	correl_merge         segments of rows into what columns and pairs come to so far; correl_merge_gaps with gaps
//	correl_coefficients  coefficients, at the best lag
//	correl_select        the strongest pairs
package kernels

import _ "embed"

// PTX is all kernels, for devices of compute capability 7.0 and later.
//
//go:generate ./build.sh
//go:embed kernels.ptx
var PTX []byte

// Correlation70, Correlation80 and Correlation90 are the correlator's kernels for compute capabilities 7.0, 8.0 and 9.0
// and later: without tensor cores for float64, with products of 8 x 8 x 4 numbers, and with products of 16 x 8 x 8.
var (
	//go:embed correl_sm70.ptx
	Correlation70 []byte
	//go:embed correl_sm80.ptx
	Correlation80 []byte
	//go:embed correl_sm90.ptx
	Correlation90 []byte
)
