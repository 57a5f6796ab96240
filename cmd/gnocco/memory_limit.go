package main

import (
	"fmt"
	"math"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/gnocco-db/gnocco/server"
)

// memoryLimit returns the limit of a server's memory, and has the garbage collector keep to it, unless GOMEMLIMIT was
// set. 0 stands for a quarter of the memory of the machine or, if that is less, of the control group.
func memoryLimit(limit int64) (int64, error) {
	if limit == 0 {
		whole, err := memlimit.FromSystem()
		if group, groupErr := memlimit.FromCgroup(); groupErr == nil && (err != nil || group < whole) {
			whole, err = group, nil
		}
		if err != nil {
			return 0, fmt.Errorf("--memory-limit: the machine does not tell how much memory it has; give a size: %w",
				err)
		}
		limit = int64(whole / 4)
	}
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		heap := limit
		if !blocksInHeap {
			heap -= server.BlockBytes(limit)
		}
		debug.SetMemoryLimit(heap)
	}
	return limit, nil
}
