package gpu

import (
	"errors"
	"fmt"

	"gnocco/gpu/cu"
)

// ErrUnavailable is what opening a device reports where there is none.
var ErrUnavailable = cu.ErrUnavailable

// ErrMemory says that a budget of memory is used up, or the driver has no more. Smaller pieces may fit.
var ErrMemory = errors.New("gpu: out of memory")

// ErrClosed is what a device reports after Close.
var ErrClosed = errors.New("gpu: device is closed")

// FaultError says that a device failed and can be used no more in this process.
type FaultError struct {
	Ordinal int
	Err     error // what the driver said; wraps a cu.Result
}

// Error says which device failed, and how.
func (e *FaultError) Error() string {
	return fmt.Sprintf("gpu: device %d failed and is not used any more: %v", e.Ordinal, e.Err)
}

// Unwrap returns what the driver said.
func (e *FaultError) Unwrap() error { return e.Err }

// lost tells whether an error means that the device is dead.
func lost(err error) bool {
	var status cu.Result
	return errors.As(err, &status) && status.Lost()
}
