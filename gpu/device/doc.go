// Package device runs jobs on a CUDA device: its memory, its streams, and the goroutine that owns them. Packages
// resample and correlate bring the kernels and say what to copy where; package cu makes the driver's calls.
//
// Read device.go first, then engine.go, stream.go and owner_goroutine.go. docs/explain/gpu.md says how well it does.
//
//	workers --Run(Job)--> owner: one goroutine, one thread, one device
//	                        | Start: take memory, queue upload, kernels, download on a free stream
//	                        | ... other streams copy and compute meanwhile
//	                        v Finish: results are in pinned memory
//
// Invariants:
//
//   - The first use loads the driver and opens the device. Without a device it returns ErrUnavailable, and the CPU
//     works on.
//   - Only the owner works with Pool and Stream: they have no locks. Any goroutine may use a PinnedPool, so that
//     measures are written straight into memory that the device copies by itself.
//   - Memory goes back to its pool when no queued work can touch it any more: a stream gives back what it holds once
//     its last event has passed. So a goroutine that takes memory from a pool may write to it at once.
//   - Pinned memory that a batch or a result borrows is theirs until they release it, or the collector finds them, even
//     beyond the device's end.
//   - In steady state there are no allocations: pools keep returned memory, up to the budgets, and free the oldest
//     first.
//   - After a fault (a status whose Lost is true) the device is lost; every job, waiting or to come, gets a FaultError.
//     A device that does not answer in time ends the same way. Its callers go on at once, though the owner may never
//     return from the driver. The owner and the device keep all that they may still write to: memory, the job, its
//     task.
//   - Any fault of a job, even a panic of its own, is the job's error. It is counted, and the CPU does the work.
package device
