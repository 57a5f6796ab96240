package cu

import (
	"runtime"
	"unsafe"
)

// CUContext is what a process holds of a device; it is current on a thread or not.
type CUContext struct{ handle uintptr }

// ContextFlags say how a thread waits for the device.
type ContextFlags uint32

const (
	SchedAuto         ContextFlags = 0 // spins where cores are plenty: 10 µs from launch to result
	SchedSpin         ContextFlags = 1
	SchedYield        ContextFlags = 2
	SchedBlockingSync ContextFlags = 4 // frees the core, and costs 50 µs more a wait
)

// Lock binds the calling goroutine to its thread and makes the context current there. After an error the goroutine is not
// bound.
func (ctx CUContext) Lock() error {
	runtime.LockOSThread()
	if err := SetCurrentContext(ctx); err != nil {
		runtime.UnlockOSThread()
		return err
	}
	return nil
}

// Unlock undoes a Lock: the thread has no context then.
func (ctx CUContext) Unlock() error {
	err := SetCurrentContext(CUContext{})
	runtime.UnlockOSThread()
	return err
}

// SetCurrentContext makes a context the one of the calling thread; the zero CUContext leaves it without.
func SetCurrentContext(ctx CUContext) error {
	return check("cuCtxSetCurrent", call(loaded().ctxSetCurrent, ctx.handle))
}

// CurrentContext returns the calling thread's context, the zero CUContext if it has none.
func CurrentContext() (CUContext, error) {
	var ctx CUContext
	err := check("cuCtxGetCurrent", call(loaded().ctxGetCurrent, uintptr(unsafe.Pointer(&ctx.handle))))
	return ctx, err
}

// Synchronize waits for all work of the current context.
func Synchronize() error { return check("cuCtxSynchronize", call(loaded().ctxSynchronize, 0)) }
