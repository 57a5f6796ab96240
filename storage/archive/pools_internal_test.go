package archive

import (
	"testing"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// The memory of a large value or checkpoint is not kept for the next one.
func TestPoolsKeepLittle(t *testing.T) {
	m := &valueMerger{memory: make([]byte, 0, maxMergerMemory+1), result: make([]byte, 0, maxMergerMemory),
		folded: make([]byte, 0, 2*maxMergerMemory)}
	fatal.If(t, m.Close())
	if m.memory != nil || m.folded != nil || cap(m.result) != maxMergerMemory {
		t.Errorf("a merger keeps %d, %d and %d bytes", cap(m.memory), cap(m.result), cap(m.folded))
	}
	for size, kept := range map[int]bool{keptChangesBytes: true, keptChangesBytes + 1: false} {
		c := &changes{list: make([]change, 1), memory: make([]byte, 0, size)}
		c.release()
		if reset := len(c.list) == 0; reset != kept { // changes are reset for their next use only
			t.Errorf("changes of %d bytes are kept: %v, want %v", size, reset, kept)
		}
	}
}
