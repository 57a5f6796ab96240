package cu

import "unsafe"

// Function is a kernel.
type Function struct{ handle uintptr }

// FunctionAttribute is a property of a kernel.
type FunctionAttribute int32

const (
	FnMaxThreadsPerBlock      FunctionAttribute = 0
	FnSharedSizeBytes         FunctionAttribute = 1 // static
	FnLocalSizeBytes          FunctionAttribute = 3 // a thread; more than 0 means spilled registers
	FnNumRegs                 FunctionAttribute = 4
	FnMaxDynamicSharedBytes   FunctionAttribute = 8 // can be set: more than 48 KiB of dynamic shared memory ask for it
	FnPreferredSharedCarveout FunctionAttribute = 9 // can be set: percent
)

// Attribute returns a property of the kernel.
func (fn Function) Attribute(attribute FunctionAttribute) (int, error) {
	var value int32
	err := check("cuFuncGetAttribute",
		call3(loaded().funcGetAttribute, uintptr(unsafe.Pointer(&value)), uintptr(attribute), fn.handle))
	return int(value), err
}

// SetAttribute changes a property that can be set.
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
