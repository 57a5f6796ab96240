package carbonara

import "encoding/binary"

// zoneLen is the size of a zone in a vector column: two int16, little endian, the high 16 bits of the ranks of its
// lowest and its highest value, NaN aside. Without any value the first is greater than the second. No reader uses zones
// today: the format has them.
const zoneLen = 4

// appendZone appends the zone of values.
func appendZone(dst []byte, values []float64) []byte {
	low, high := int16(1), int16(0)
	if lowest, highest := orderedRange(values); lowest <= highest {
		low, high = int16(lowest>>48), int16(highest>>48)
	}
	dst = binary.LittleEndian.AppendUint16(dst, uint16(low))
	return binary.LittleEndian.AppendUint16(dst, uint16(high))
}
