package engine

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math/bits"
)

// A log or manifest is blocks of 32 KiB, and these are chunks that do not cross them:
//
//	manifest: checksum (4) | length (2) | type (1) | payload
//	log:      checksum (4) | length (2) | type (1) | low bits of the log's number (4) | synced up to (8) | payload
//
// The checksum covers the bytes after the length. Logs of older stores lack the offset up to which they were synced.
// The end of a block, if too short for a header, is zeros. A closed log ends with a header of the next number; an
// unclosed one ends in the file's earlier content: zeros, or chunks of an older log.
const (
	chunkBlock     = 32 << 10
	manifestHeader = 7
	logHeader      = manifestHeader + 4
	syncedHeader   = logHeader + 8

	lastManifestType = 4
	lastLogType      = 8
	lastSyncedType   = 12
	endOfLogType     = 5
)

// chunkFormat is that of a manifest, or of the log of a number.
type chunkFormat struct {
	log    bool
	number uint32
}

var manifestChunk = chunkFormat{}

func logChunk(number uint32) chunkFormat { return chunkFormat{log: true, number: number} }

func sumOf(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// chunkSum is the checksum of chunks: a CRC-32C, changed so that one of data that holds one is another.
func chunkSum(b []byte) uint32 {
	const delta = 0xa282ead8
	return bits.RotateLeft32(sumOf(b), 17) + delta
}

// scan returns where the last chunk ends in front of the first bytes that are none. unclean reports that these are not
// what is left behind a log that ends there.
func (f chunkFormat) scan(content []byte) (end int, unclean bool) {
	at := 0
	for at < len(content) {
		rest := content[at:min(len(content), at-at%chunkBlock+chunkBlock)]
		if n := f.chunk(rest); n > 0 {
			at += n
			continue
		}
		blockEnds := at+len(rest) < len(content)
		if blockEnds && len(rest) < f.header() && allZero(rest) {
			at += len(rest)
			continue
		}
		return at, !f.ends(rest)
	}
	return at, false
}

// header returns the bytes below which no chunk is begun in a block.
func (f chunkFormat) header() int {
	if f.log {
		return syncedHeader
	}
	return manifestHeader
}

// chunk returns the length of the chunk that b begins with, 0 if that is none.
func (f chunkFormat) chunk(b []byte) int {
	if len(b) < manifestHeader {
		return 0
	}
	header := 0
	switch kind := b[6]; {
	case !f.log && kind > 0 && kind <= lastManifestType:
		header = manifestHeader
	case f.log && kind > lastManifestType && kind <= lastLogType:
		header = logHeader
	case f.log && kind > lastLogType && kind <= lastSyncedType:
		header = syncedHeader
	default:
		return 0
	}
	length := header + int(binary.LittleEndian.Uint16(b[4:]))
	if length > len(b) || f.log && binary.LittleEndian.Uint32(b[7:]) != f.number ||
		chunkSum(b[6:length]) != binary.LittleEndian.Uint32(b) {
		return 0
	}
	return length
}

// ends reports whether a file that ends in front of b, the rest of a block, may go on like this.
func (f chunkFormat) ends(b []byte) bool {
	if !f.log {
		return allZero(b) && len(b) < manifestHeader // manifests are neither preallocated nor used anew
	}
	if len(b) < logHeader || allZero(b[:manifestHeader]) {
		return true
	}
	number := binary.LittleEndian.Uint32(b[7:])
	if number == f.number {
		return false
	}
	if bits.OnesCount32(number^f.number) != 1 || number == f.number+1 && b[6] == endOfLogType && allZero(b[:6]) {
		return true
	}
	// A chunk of another log, or one of this with a flipped bit in the number.
	mended := bytes.Clone(b)
	binary.LittleEndian.PutUint32(mended[7:], f.number)
	return f.chunk(mended) == 0
}

// syncedBehind reports whether a chunk of the same log, somewhere behind an offset, says that the log was durable
// there.
func (f chunkFormat) syncedBehind(content []byte, offset int) bool {
	if !f.log {
		return false
	}
	number := binary.LittleEndian.AppendUint32(nil, f.number)
	for from := offset + manifestHeader; from < len(content); {
		i := bytes.Index(content[from:], number)
		if i < 0 {
			return false
		}
		at := from + i - manifestHeader
		from += i + 1
		if at+syncedHeader > len(content) {
			return false
		}
		block := content[at:min(len(content), at-at%chunkBlock+chunkBlock)]
		if f.chunk(block) > 0 && block[6] > lastLogType &&
			binary.LittleEndian.Uint64(block[logHeader:]) > uint64(offset) {
			return true
		}
	}
	return false
}

func allZero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }
