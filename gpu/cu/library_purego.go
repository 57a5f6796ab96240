//go:build linux && (amd64 || arm64) && !nogpu

package cu

import (
	"sync"

	"github.com/ebitengine/purego"
)

// openLibrary loads the first of names that there is.
func openLibrary(names []string) (handle uintptr, err error) {
	for _, name := range names {
		if handle, err = purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_GLOBAL); err == nil {
			return handle, nil
		}
	}
	return 0, err
}

func lookUp(handle uintptr, name string) (uintptr, error) { return purego.Dlsym(handle, name) }

// arguments are kept from call to call: SyscallN makes a slice of its arguments escape.
var arguments = sync.Pool{New: func() any { return new([11]uintptr) }}

// invoke calls the C function at address fn. It always passes all arguments, in registers or on the caller's stack: a C
// function does not mind more than it has.
//
//go:uintptrescapes
func invoke(fn, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10 uintptr) uintptr {
	args := arguments.Get().(*[11]uintptr)
	*args = [11]uintptr{a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10}
	status, _, _ := purego.SyscallN(fn, args[:]...)
	arguments.Put(args)
	return status
}
