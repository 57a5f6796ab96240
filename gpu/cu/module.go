package cu

import (
	"fmt"
	"runtime"
	"unsafe"
)

// Module is code loaded into a context.
type Module struct{ handle uintptr }

// The driver's numbers of options for compiling.
const (
	jitErrorLog      = 5
	jitErrorLogBytes = 6
)

const jitLogBytes = 16 << 10

// LoadData loads PTX text or a compiled image into the current context. PTX is compiled, which takes a second for half
// a megabyte; the driver keeps the result in a folder (CUDA_CACHE_PATH) and is done in milliseconds the next time.
// The compiler's messages are part of the error.
func LoadData(image []byte) (Module, error) {
	text := append(image[:len(image):len(image)], 0) // PTX ends with a 0
	log := make([]byte, jitLogBytes)
	keys := []int32{jitErrorLog, jitErrorLogBytes}
	var pinner runtime.Pinner // values hide their pointer from Go
	pinner.Pin(&log[0])
	defer pinner.Unpin()
	values := []uintptr{uintptr(unsafe.Pointer(&log[0])), uintptr(len(log))}
	var module Module
	status := loaded().callGo("cuModuleLoadDataEx", uintptr(unsafe.Pointer(&module.handle)),
		uintptr(unsafe.Pointer(&text[0])), uintptr(len(keys)), uintptr(unsafe.Pointer(&keys[0])),
		uintptr(unsafe.Pointer(&values[0])))
	if status != Success {
		return Module{}, fmt.Errorf("cuModuleLoadDataEx: %w: %s", status, textOf(log))
	}
	return module, nil
}

// Function returns a kernel by the name that it was compiled under.
func (m Module) Function(name string) (Function, error) {
	text := append([]byte(name), 0)
	function := Function{Name: name}
	status := loaded().callGo("cuModuleGetFunction",
		uintptr(unsafe.Pointer(&function.handle)), m.handle, uintptr(unsafe.Pointer(&text[0])))
	if status != Success {
		return Function{}, fmt.Errorf("cuModuleGetFunction %s: %w", name, status)
	}
	return function, nil
}

// Unload ends the module and its functions.
func (m Module) Unload() error { return call("cuModuleUnload", m.handle) }

// Function is a kernel.
type Function struct {
	Name   string
	handle uintptr
}

// FunctionAttribute is a property of a kernel.
type FunctionAttribute int32

// FnMaxDynamicSharedBytes is the dynamic shared memory that a block may ask for, 48 KiB at first.
const FnMaxDynamicSharedBytes FunctionAttribute = 8

// SetAttribute changes a property.
func (fn Function) SetAttribute(attribute FunctionAttribute, value int) error {
	return call("cuFuncSetAttribute", fn.handle, uintptr(attribute), uintptr(value))
}

// Launch puts the kernel on a stream. The driver copies params before it returns: they can be filled anew at once.
func (fn Function) Launch(gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes int, stream Stream,
	params *Params) error {
	if params.err != nil {
		return params.err
	}
	return launch(fn.handle, uintptr(gridX), uintptr(gridY), uintptr(gridZ), uintptr(blockX), uintptr(blockY),
		uintptr(blockZ), uintptr(sharedBytes), stream.handle, uintptr(unsafe.Pointer(params.seal())))
}

// launch is callGo without a slice of arguments, which would escape with them: batches allocate nothing.
//
//go:uintptrescapes
func launch(fn, gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, stream, params uintptr) error {
	return call("cuLaunchKernel", fn, gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, stream, 0, params)
}
