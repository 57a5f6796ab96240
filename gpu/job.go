package gpu

import (
	"context"
	"time"
)

// Job is work for a device, done on one lane. Both methods are called by the owner, one job's at a time: they queue and return.
// What takes the host long (packing, unpacking) belongs before Run and after it.
type Job interface {
	// Start takes memory and queues uploads, kernels and downloads on the lane. What it hands to lane.Hold is released by the
	// lane. On ErrMemory it is called again once other jobs gave back theirs; all that it held was released then.
	Start(e *Engine, lane *Lane) error

	// Finish is called when all that was queued is done. It may queue more, for what depends on the results so far, and returns
	// true to be called again. ErrMemory from here is the job's error.
	Finish(e *Engine, lane *Lane) (more bool, err error)
}

// task is a job, or a function, on its way through the owner.
type task struct {
	ctx  context.Context // of the caller; kept for as long as the caller waits
	job  Job
	do   func(*Engine) error // in place of job: no lane
	lane *Lane
	done chan error // holds one; the owner answers every task once

	started time.Time // on its lane
}
