//go:build cgo

package main

// blocksInHeap says whether Pebble takes the memory of blocks and memtables from Go's heap; with cgo it takes it from
// C's.
const blocksInHeap = false
