package cu

import (
	"fmt"
	"unsafe"
)

// Result is the status of a driver call. All but Success are errors.
type Result uint32

// The statuses that code asks for. The driver has more, and names them all.
const (
	Success             Result = 0
	InvalidValue        Result = 1
	OutOfMemory         Result = 2
	NotInitialized      Result = 3 // also: Open was not called
	Deinitialized       Result = 4
	DevicesUnavailable  Result = 46
	InvalidDevice       Result = 101
	InvalidContext      Result = 201 // the thread has none: see SetCurrentContext
	ECCUncorrectable    Result = 214
	InvalidPTX          Result = 218
	NVLinkUncorrectable Result = 220
	InvalidHandle       Result = 400
	NotFound            Result = 500
	NotReady            Result = 600 // what a Query says while work is under way
	IllegalAddress      Result = 700
	LaunchTimeout       Result = 702
	Assert              Result = 710
	HardwareStackError  Result = 714
	IllegalInstruction  Result = 715
	MisalignedAddress   Result = 716
	InvalidAddressSpace Result = 717
	InvalidPC           Result = 718
	LaunchFailed        Result = 719
	Unknown             Result = 999
)

// Lost reports whether the status means that this process can use the device no more: every later call will fail, also
// after the context was reset.
func (r Result) Lost() bool {
	switch r {
	case Deinitialized, DevicesUnavailable, ECCUncorrectable, NVLinkUncorrectable, IllegalAddress,
		LaunchTimeout, Assert,
		HardwareStackError, IllegalInstruction, MisalignedAddress, InvalidAddressSpace, InvalidPC,
		LaunchFailed, Unknown:
		return true
	}
	return false
}

// Error returns the driver's name and text for the status.
func (r Result) Error() string { return loaded().text(r) }

func (d driver) text(r Result) string {
	var name, text uintptr
	d.callGo("cuGetErrorName", uintptr(r), uintptr(unsafe.Pointer(&name))) // statuses it does not know leave 0
	d.callGo("cuGetErrorString", uintptr(r), uintptr(unsafe.Pointer(&text)))
	if name == 0 {
		return fmt.Sprintf("CUDA status %d", uint32(r))
	}
	return fmt.Sprintf("%s (%d): %s", cString(name), uint32(r), cString(text))
}
