// Package gpu runs work on a CUDA device: memory, streams and the goroutine that owns them, and on top of these the Resampler and the
// Correlator, which bring kernels (package kernels) and say what to copy where. Package cu makes the driver's calls.
//
// Read device.go first, then job.go and lane.go; then, for the resampler, resampler.go, piece.go, columns.go, pack.go, unpack.go and
// piece_job.go, and package kernels; for the correlator, correlator.go, correl_pass.go, correl_pack.go, correl_chunk_job.go and
// correl_outcome.go. docs/gpu.md says how well it does.
//
//	workers --Run(Job)--> owner: one goroutine, one thread, one device
//	                        | Start: take memory, queue upload, kernels, download on a free lane
//	                        | ... other lanes copy and compute meanwhile
//	                        v Finish: results are in pinned memory
//
// Invariants:
//
//   - Nothing is loaded or opened before the first use. Without a device that is ErrUnavailable, and the CPU works on.
//   - Only the owner works with Pool, BlockCache and Lane: they have no locks. PinnedPool may be used from anywhere, so that
//     measures are written straight into memory that the device copies by itself.
//   - Memory goes back to its pool when no work that was queued can touch it any more: a lane gives back what it holds once its
//     last event has passed. So whoever takes memory from a pool may write to it at once.
//   - Pinned memory that was lent to a batch or a result is theirs until they release it, or the collector finds them: beyond the
//     device's end if need be.
//   - In steady state nothing is allocated: what comes back is kept, up to the budgets, and the oldest goes first.
//   - After a fault (a status whose Lost is true) the device is dead for good; every job, waiting or to come, gets a FaultError.
package gpu
