package cu

import (
	"bytes"
	"fmt"
	"unsafe"
)

// call and those beside it call a driver's function with so many arguments. Go memory among them is put on the heap and
// kept alive meanwhile: that holds where the conversion to uintptr stands in the call itself, and for functions with
// this pragma.
//
//go:uintptrescapes
func call(fn, a0 uintptr) Result { return call5(fn, a0, 0, 0, 0, 0) }

//go:uintptrescapes
func call2(fn, a0, a1 uintptr) Result { return call5(fn, a0, a1, 0, 0, 0) }

//go:uintptrescapes
func call3(fn, a0, a1, a2 uintptr) Result { return call5(fn, a0, a1, a2, 0, 0) }

//go:uintptrescapes
func call4(fn, a0, a1, a2, a3 uintptr) Result { return call5(fn, a0, a1, a2, a3, 0) }

//go:uintptrescapes
func call5(fn, a0, a1, a2, a3, a4 uintptr) Result {
	return call11(fn, a0, a1, a2, a3, a4, 0, 0, 0, 0, 0, 0)
}

//go:uintptrescapes
func call11(fn, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10 uintptr) Result {
	if fn == 0 {
		return NotInitialized
	}
	return Result(uint32(invoke(fn, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10)))
}

// check makes a failed call's status an error that says which call it was.
func check(name string, status Result) error {
	if status == Success {
		return nil
	}
	return fmt.Errorf("%s: %w", name, status)
}

// cString reads what the driver points at; address is 0 or that of bytes which end with 0.
func cString(address uintptr) string {
	if address == 0 {
		return ""
	}
	start := *(*unsafe.Pointer)(unsafe.Pointer(&address)) // C memory, which Go neither moves nor frees
	n := 0
	for *(*byte)(unsafe.Add(start, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(start), n))
}

// textOf returns what stands before the 0 in a buffer that the driver wrote to.
func textOf(buffer []byte) string {
	text, _, _ := bytes.Cut(buffer, []byte{0})
	return string(text)
}
