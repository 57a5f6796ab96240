package main

import (
	"testing"

	"github.com/gnocco-db/gnocco/gpu/device"
)

// Devices pin a sixteenth of the process's memory at most, and no more than is of use to them.
func TestPinnedBytes(t *testing.T) {
	for _, c := range []struct {
		memory, most int64
		devices      int
	}{{512 << 20, 32 << 20, 1}, {2 << 30, 128 << 20, 1}, {2 << 30, 128 << 20, 8}, {32 << 30, 1536 << 20, 1},
		{32 << 30, 2 << 30, 8}} {
		pools := int64(c.devices * device.PinnedPools)
		if pinned := pools * pinnedBytes(c.memory, c.devices); pinned > c.most || pinned < c.most-pools {
			t.Errorf("%d devices pin %d of %d bytes, not %d", c.devices, pinned, c.memory, c.most)
		}
	}
}
