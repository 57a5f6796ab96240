// Package correlate is the engine of package gnocco/correlate on CUDA devices: coefficients of all pairs of columns.
//
// Read correlator.go first, then pass.go, pack.go, chunk_job.go and pass_result.go, and package kernels' correl.h.
// cost_model.go chooses between the CPU and devices.
//
// Coefficients are within 1e-12 of the CPU's. The CPU does work that devices cannot do, or not faster.
package correlate
