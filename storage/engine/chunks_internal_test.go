package engine

import (
	"encoding/binary"
	"testing"
)

// The number of a log may stand anywhere in it by chance, also where no header fits in front of it.
func TestSyncedBehindTakesAnyBytes(t *testing.T) {
	const number = 0x01020304
	for at := range 2*syncedHeader + 1 {
		content := make([]byte, 2*chunkBlock)
		binary.LittleEndian.PutUint32(content[chunkBlock-syncedHeader+at:], number)
		if logChunk(number).syncedBehind(content, 0) {
			t.Errorf("%d bytes from a block's end: zeros say that the log was durable", syncedHeader-at)
		}
		short := content[:chunkBlock-syncedHeader+at+4]
		if logChunk(number).syncedBehind(short, 0) || logChunk(number).syncedBehind(short, len(short)) {
			t.Errorf("%d bytes from a block's end: zeros at the file's end say that the log was durable",
				syncedHeader-at)
		}
	}
}
