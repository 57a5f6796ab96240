// Package resample is the carbonara.Resampler on CUDA devices. It splits a batch into chunks, packs them, runs them on
// package device, and puts the groups into the result, with the bits that the CPU gives.
//
// Read resampler.go first, then chunk.go, columns.go, pack.go, unpack.go and chunk_job.go, and package kernels.
// cost_model.go and calibrate.go choose between the CPU and a device.
//
// The CPU does work that a device cannot do, or not faster: the resampler never fails for lack of a device.
package resample
