//go:build !linux || !(amd64 || arm64) || nogpu

package cu

import "errors"

var errLeftOut = errors.New("this program was built without it")

func openLibrary([]string) (uintptr, error)   { return 0, errLeftOut }
func lookUp(uintptr, string) (uintptr, error) { return 0, errLeftOut }

// invoke is never reached: no function has an address.
func invoke(uintptr, []uintptr) uintptr { return uintptr(NotInitialized) }
