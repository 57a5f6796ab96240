// Package device runs jobs on a CUDA device: its memory, its streams, and the goroutine that owns them. Packages
// resample and correlate bring the kernels and say what to copy where; package cu makes the driver's calls.
//
// Read device.go first, then job.go, stream.go and owner_goroutine.go. docs/gpu.md says how well it does.
//
//	workers --Run(Job)--> owner: one goroutine, one thread, one device
//	                        | Start: take memory, queue upload, kernels, download on a free stream
//	                        | ... other streams copy and compute meanwhile
//	                        v Finish: results are in pinned memory
//
// Invariants:
//
//   - Nothing is loaded or opened before the first use. Without a device that is ErrUnavailable, and the CPU works on.
//   - Only the owner works with Pool and Stream: they have no locks. Any goroutine may use a PinnedPool, so that
//     measures are written straight into memory that the device copies by itself.
//   - Memory goes back to its pool when no queued work can touch it any more: a stream gives back what it holds once
//     its last event has passed. So a goroutine that takes memory from a pool may write to it at once.
//   - Pinned memory that a batch or a result borrows is theirs until they release it, or the collector finds them, even
//     beyond the device's end.
//   - In steady state nothing is allocated: what comes back is kept, up to the budgets, and the oldest goes first.
//   - After a fault (a status whose Lost is true) the device is dead for good; every job, waiting or to come, gets a
//     FaultError. A device that does not answer in time ends the same way. Its callers go on at once, though the owner
//     may never return from the driver. What the owner and the device may still write to stays theirs: memory, the job,
//     its task.
//   - Whatever goes wrong with a job, a panic of its own too, is the job's error, and the CPU does the work. It is
//     counted.
package device
