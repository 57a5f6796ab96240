package index

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/gnocco-db/gnocco/internal/cores"
)

// readsPerWorker is how many single reads are worth another goroutine: each may wait for a block from the disk, or
// decompress one.
const readsPerWorker = 16

// mostWorkers is how many goroutines one request gets.
const mostWorkers = 16

// inParts calls f for parts that together are [0, n), at the same time, and joins their errors.
func inParts(n int, f func(from, to int) error) error {
	workers := cores.Share(min(max(1, n/readsPerWorker), mostWorkers))
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

// inTurns calls f for each of n parts, as many at the same time as there are cores, and joins their errors.
func inTurns(n int, f func(i int) error) error {
	var next atomic.Int64
	errs := make([]error, cores.Share(min(n, mostWorkers)))
	var all sync.WaitGroup
	for worker := range errs {
		all.Go(func() {
			for errs[worker] == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				errs[worker] = f(i)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
