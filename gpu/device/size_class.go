package device

import "math/bits"

// minBlockBytes is what the driver's own allocator hands out at least.
const minBlockBytes = 512

// sizeClass returns how much is allocated for so many bytes: eight sizes to each power of two, so that blocks of nearly
// the same size can stand for each other and at most an eighth is unused.
func sizeClass(wanted int64) int64 {
	if wanted < 0 {
		panic("gpu: a negative size")
	}
	if wanted <= minBlockBytes {
		return minBlockBytes
	}
	step := int64(1) << (bits.Len64(uint64(wanted-1)) - 4)
	return (wanted + step - 1) &^ (step - 1)
}

// serves reports whether a block may stand for one of the wanted class: it fits and less than half is wasted.
func serves(size, class int64) bool { return size >= class && size/2 < class }
