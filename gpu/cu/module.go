package cu

import (
	"fmt"
	"runtime"
	"unsafe"
)

// Module is code loaded into a context.
type Module struct{ handle uintptr }

// JITOptions say how the driver compiles PTX.
type JITOptions struct {
	MaxRegisters int // a thread; 0 for the compiler's choice
	Optimization int // 1 to 4; 0 for the driver's default, which is 4
}

// The driver's numbers of the options.
const (
	jitMaxRegisters  = 0
	jitErrorLog      = 5
	jitErrorLogBytes = 6
	jitOptimization  = 7
)

const jitLogBytes = 16 << 10

// LoadData loads PTX text or a compiled image into the current context. PTX is compiled, which takes a second for half
// a megabyte; the driver keeps the result in a folder (CUDA_CACHE_PATH) and is done in milliseconds the next time.
func LoadData(image []byte) (Module, error) { return LoadDataEx(image, JITOptions{}) }

// LoadDataEx is LoadData with options. The compiler's messages are part of the error.
func LoadDataEx(image []byte, options JITOptions) (Module, error) {
	text := append(image[:len(image):len(image)], 0) // PTX ends with a 0
	log := make([]byte, jitLogBytes)
	keys := []int32{jitErrorLog, jitErrorLogBytes}
	var pinner runtime.Pinner // values hide their pointer from Go
	pinner.Pin(&log[0])
	defer pinner.Unpin()
	values := []uintptr{uintptr(unsafe.Pointer(&log[0])), uintptr(len(log))}
	if options.MaxRegisters != 0 {
		keys, values = append(keys, jitMaxRegisters), append(values, uintptr(options.MaxRegisters))
	}
	if options.Optimization != 0 {
		keys, values = append(keys, jitOptimization), append(values, uintptr(options.Optimization))
	}
	var module Module
	status := call5(loaded().moduleLoadDataEx, uintptr(unsafe.Pointer(&module.handle)),
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
	var function Function
	status := call3(loaded().moduleGetFunction,
		uintptr(unsafe.Pointer(&function.handle)), m.handle, uintptr(unsafe.Pointer(&text[0])))
	if status != Success {
		return Function{}, fmt.Errorf("cuModuleGetFunction %s: %w", name, status)
	}
	return function, nil
}

// Unload ends the module and its functions.
func (m Module) Unload() error { return check("cuModuleUnload", call(loaded().moduleUnload, m.handle)) }

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
