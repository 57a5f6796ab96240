//go:build !cgo

package main

// blocksInHeap is told in memory_limit_cgo.go.
const blocksInHeap = true
