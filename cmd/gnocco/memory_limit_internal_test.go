package main

import (
	"math"
	"runtime/debug"
	"testing"

	"github.com/gnocco-db/gnocco/server"
)

// The collector's limit and the memory outside of its heap add up to the process's limit.
func TestMemoryLimitIsForAll(t *testing.T) {
	const limit = 1 << 30
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	got, err := memoryLimit(limit)
	if err != nil || got != limit {
		t.Fatalf("%d, %v", got, err)
	}
	heap := debug.SetMemoryLimit(-1)
	if outside := server.BlockBytes(limit); outside <= 0 || blocksInHeap && heap != limit ||
		!blocksInHeap && heap+outside != limit {
		t.Errorf("the heap has %d, blocks %d; in the heap: %v", heap, outside, blocksInHeap)
	}
}
