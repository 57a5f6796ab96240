package intcodec

import (
	"encoding/binary"
	"math/bits"
)

func Zigzag(i int64) uint64 { return uint64(i)<<1 ^ uint64(i>>63) }

func Unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

// UvarintLen returns the number of bytes that u takes as a uvarint: ceil(bits/7), at least 1, without a division.
func UvarintLen(u uint64) int { return (9*bits.Len64(u) + 64) >> 6 }

// ConsumeUvarint splits a uvarint off src.
func ConsumeUvarint(src []byte) (u uint64, rest []byte, ok bool) {
	if len(src) > 0 && src[0] < 0x80 {
		return uint64(src[0]), src[1:], true
	}
	u, n := binary.Uvarint(src)
	if n <= 0 {
		return 0, nil, false
	}
	return u, src[n:], true
}

// ConsumeVarint splits a zigzag varint off src.
func ConsumeVarint(src []byte) (i int64, rest []byte, ok bool) {
	u, rest, ok := ConsumeUvarint(src)
	return Unzigzag(u), rest, ok
}

// AppendUvarint is binary.AppendUvarint with the usual case, one byte, inlined.
func AppendUvarint(dst []byte, u uint64) []byte {
	if u < 0x80 {
		return append(dst, byte(u))
	}
	return binary.AppendUvarint(dst, u)
}
