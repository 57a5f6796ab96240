package tile

import "golang.org/x/sys/cpu"

// setAVX512 allows the assembly for AVX-512, and returns whether it is used from now on.
func setAVX512(allow bool) bool {
	hasAVX512 = allow && cpu.X86.HasAVX512F
	return hasAVX512
}
