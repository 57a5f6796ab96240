package cu

import (
	"bytes"
	"fmt"
	"strings"
	"unsafe"
)

// call calls a function with these arguments, eleven at most, none of which points to Go memory.
func (d driver) call(name string, args ...uintptr) Result {
	fn := d[name]
	if fn == 0 {
		return NotInitialized
	}
	return Result(uint32(invoke(fn, args)))
}

// callGo is call with pointers to Go memory, which it puts on the heap and keeps alive meanwhile: that holds where the
// conversion to uintptr stands in the call itself, and for functions with this pragma. Its arguments escape.
//
//go:uintptrescapes
func (d driver) callGo(name string, args ...uintptr) Result { return d.call(name, args...) }

// call calls a function of the loaded driver. It makes a failed call's status an error that says which call it was.
func call(name string, args ...uintptr) error {
	if status := loaded().call(name, args...); status != Success {
		return fmt.Errorf("%s: %w", strings.TrimSuffix(name, "_v2"), status)
	}
	return nil
}

//go:uintptrescapes
func callGo(name string, args ...uintptr) error { return call(name, args...) }

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
