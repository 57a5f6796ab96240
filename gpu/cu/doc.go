// Package cu calls the CUDA driver without cgo: the part of its API that package gpu uses, under the names that
// gorgonia.org/cu gave it. The driver's library is looked for when Open is called and not before, so that one binary
// runs on machines with and without a device; where library, symbol, or device is missing, Open's error is
// ErrUnavailable. Built with the tag nogpu, or for another system than Linux on amd64 or arm64, it is always that, and
// nothing of the dynamic loader gets into the binary.
//
// Read driver.go first, then memory.go and module.go. Rules of the driver:
//
//   - A context is current per thread. A goroutine stays on its thread (runtime.LockOSThread) and calls
//     SetCurrentContext before anything that works on a device, as the owner of a device in package gpu does.
//   - Every status other than success becomes an error that wraps a Result, which has the driver's name and text for
//     it. After one whose Lost is true, the process can never use the device again.
//   - Work put on a stream has not happened when the call returns. Leave the memory that it reads or writes as it is,
//     and alive, until you have waited for its stream, or for an event recorded after it. Host memory for it is pinned
//     (MemHostAlloc), or the driver copies it in between and the overlap is lost.
//   - Calls that a batch makes (copies, launches, events, waits) allocate nothing.
//
// Functions of the package may be called from any goroutine. Handles (Stream, Event, Module…) are plain values; their
// maker destroys them, once.
package cu
