package kernels

import _ "embed"

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
