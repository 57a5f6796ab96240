package carbonara

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/gnocco-db/gnocco/carbonara/intcodec"
	"github.com/gnocco-db/gnocco/internal/corruption"
)

// A frame is the envelope of a split and of a chunk of a raw series, which makes them self-delimiting:
//
//	version   1 byte
//	length    uvarint, of the payload
//	payload
//	checksum  4 bytes, little endian: the low half of xxhash64 of all bytes before it
const frameChecksumLen = 4

// beginFrame starts a frame at the end of dst; its payload is appended next.
func beginFrame(dst []byte, version byte) []byte { return append(dst, version, 0) }

// endFrame completes the frame that starts at dst[at].
func endFrame(dst []byte, at int) []byte {
	length := uint64(len(dst) - at - 2)
	if more := intcodec.UvarintLen(length) - 1; more > 0 {
		// Most frames are a few groups and leave their one byte for the length as it is; the others move.
		var room [binary.MaxVarintLen64]byte
		dst = slices.Insert(dst, at+2, room[:more]...)
	}
	binary.PutUvarint(dst[at+1:], length)
	return binary.LittleEndian.AppendUint32(dst, uint32(xxhash.Sum64(dst[at:])))
}

// cutFrame splits the first frame off src without looking at its checksum.
func cutFrame(src []byte) (frame, payload, rest []byte, err error) {
	if len(src) == 0 {
		return nil, nil, nil, corrupt("no bytes")
	}
	length, body, ok := intcodec.ConsumeUvarint(src[1:])
	if !ok || length > uint64(len(body)) || uint64(len(body))-length < frameChecksumLen {
		return nil, nil, nil, corrupt("length exceeds the %d bytes at hand", len(src))
	}
	end := len(src) - len(body) + int(length) + frameChecksumLen
	// The capacities are the frame's own: unpacking reads, without using it, what lies up to there behind a payload.
	return src[:end:end], body[: length : length+frameChecksumLen], src[end:], nil
}

// openFrame splits the first frame off src and returns its payload, checked.
func openFrame(src []byte, version byte) (payload, rest []byte, err error) {
	frame, payload, rest, err := cutFrame(src)
	if err != nil {
		return nil, nil, err
	}
	if frame[0] != version {
		return nil, nil, corrupt("version %d is unknown", frame[0])
	}
	sealed := len(frame) - frameChecksumLen
	if binary.LittleEndian.Uint32(frame[sealed:]) != uint32(xxhash.Sum64(frame[:sealed])) {
		return nil, nil, corrupt("checksum mismatch")
	}
	return payload, rest, nil
}

// ErrCorrupt is wrapped by the errors of decoders: the bytes are not what an encoder of ours wrote.
var ErrCorrupt = corruption.Err

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrCorrupt}, args...)...)
}
