package cu

import "unsafe"

// Function is a kernel.
type Function struct{ handle uintptr }

// FunctionAttribute is a property of a kernel.
type FunctionAttribute int32

// FnMaxDynamicSharedBytes is the dynamic shared memory that a block may ask for, 48 KiB at first.
const FnMaxDynamicSharedBytes FunctionAttribute = 8

// SetAttribute changes a property.
func (fn Function) SetAttribute(attribute FunctionAttribute, value int) error {
	return check("cuFuncSetAttribute", call3(loaded().funcSetAttribute, fn.handle, uintptr(attribute), uintptr(value)))
}

// Launch puts the kernel on a stream. The driver copies params before it returns: they can be filled anew at once.
func (fn Function) Launch(gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes int, stream Stream,
	params *Params) error {
	if params.err != nil {
		return params.err
	}
	return check("cuLaunchKernel", call11(loaded().launchKernel, fn.handle,
		uintptr(gridX), uintptr(gridY), uintptr(gridZ), uintptr(blockX), uintptr(blockY), uintptr(blockZ),
		uintptr(sharedBytes), stream.handle, 0, uintptr(unsafe.Pointer(params.seal()))))
}
