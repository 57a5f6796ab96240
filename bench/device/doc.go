// Package device measures resampling on CUDA devices, in process: beside the CPU, and beside kernels that one may write
// first.
package device
