package cu

import (
	"runtime"
)

// CUContext is what a process holds of a device; it is current on a thread or not.
type CUContext struct{ handle uintptr }

// Lock binds the calling goroutine to its thread and makes the context current there. After an error the goroutine is
// not bound.
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
