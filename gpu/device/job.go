package device

import (
	"context"
	"time"
)

// Job is work for a device, done on one stream. Both methods are called by the owner, one job's at a time: they queue
// and return. Long work of the host (packing, unpacking) belongs before Run and after it.
type Job interface {
	// Start takes memory and queues uploads, kernels and downloads on the stream. The stream releases memory that Start
	// hands to stream.Hold. After ErrMemory all that it held is released, and it is called again once other jobs gave
	// back theirs.
	Start(e *Engine, stream *Stream) error

	// Finish is called when all that was queued is done. It may queue more work that depends on the results so far, and
	// returns true to be called again. ErrMemory from here is the job's error.
	Finish(e *Engine, stream *Stream) (more bool, err error)
}

// LongJob is a job that may take longer than the device's JobTimeout.
type LongJob interface {
	Job
	ExtraTime() time.Duration // on top of JobTimeout
}

// task is a job, or a function, on its way through the owner.
type task struct {
	ctx    context.Context // of the caller; kept for as long as the caller waits
	job    Job
	do     func(*Engine) error // in place of job: no stream
	stream *Stream
	done   chan error // holds one; the owner answers every task once

	started time.Time // on its stream
}
