// Package kernels holds the kernels that the benchmark of devices compares the resampler's with: how one writes them
// first. gpu/kernels/build.sh makes the PTX.
package kernels

import _ "embed"

// PTX is all of them, for devices of compute capability 7.0 and later.
//
//go:embed kernels.ptx
var PTX []byte
