package cu

// CUContext is what a process holds of a device; it is current on a thread or not.
type CUContext struct{ handle uintptr }

// SetCurrentContext makes a context the one of the calling thread; the zero CUContext leaves it without.
func SetCurrentContext(ctx CUContext) error {
	return check("cuCtxSetCurrent", call(loaded().ctxSetCurrent, ctx.handle))
}
