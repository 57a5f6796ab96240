package device

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/gnocco-db/gnocco/gpu/cu"
)

// ErrUnavailable is what opening a device reports where there is none.
var ErrUnavailable = cu.ErrUnavailable

// ErrMemory says that a budget of memory is used up, or the driver has no more. Smaller chunks may fit.
var ErrMemory = errors.New("gpu: out of memory")

// ErrTimeout is in the FaultError of a device that took too long: the driver may never answer.
var ErrTimeout = errors.New("gpu: the device does not answer")

// ErrInvariant says that something of ours, or what a device wrote, is not as it must be. The CPU computes instead.
var ErrInvariant = errors.New("gpu: a broken invariant")

// Guarded calls f, and makes an error of its panic.
func Guarded(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: %v\n%s", ErrInvariant, v, debug.Stack())
		}
	}()
	return f()
}

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

func (e *FaultError) Unwrap() error { return e.Err }

// lost reports whether an error means that the device is dead.
func lost(err error) bool {
	var status cu.Result
	return errors.As(err, &status) && status.Lost()
}
