package index

import (
	"errors"
	"runtime"
	"sync"
)

// readsPerWorker is how many single reads are worth another goroutine: each may wait for a block from the disk, or
// decompress one.
const readsPerWorker = 16

// inParts calls f for parts that together are [0, n), at the same time, and joins their errors.
func inParts(n int, f func(from, to int) error) error {
	workers := min(max(1, n/readsPerWorker), runtime.GOMAXPROCS(0), 16)
	if workers == 1 {
		return f(0, n)
	}
	errs := make([]error, workers)
	var all sync.WaitGroup
	for i := range workers {
		all.Go(func() { errs[i] = f(i*n/workers, (i+1)*n/workers) })
	}
	all.Wait()
	return errors.Join(errs...)
}
