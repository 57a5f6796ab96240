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

// invoke calls the C function at address fn. It always passes eleven arguments, in registers or on the caller's stack:
// a C function does not mind more than it has.
func invoke(fn uintptr, args []uintptr) uintptr {
	all := arguments.Get().(*[11]uintptr)
	clear(all[copy(all[:], args):])
	status, _, _ := purego.SyscallN(fn, all[:]...)
	arguments.Put(all)
	return status
}
