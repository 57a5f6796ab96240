package keyspace

import "github.com/gnocco-db/gnocco/internal/parallel"

// readsPerWorker is how many single reads are worth another goroutine: each may wait for a block from the disk, or
// decompress one.
const readsPerWorker = 16

// mostWorkers is how many goroutines one request gets.
const mostWorkers = 16

// InParts calls f for parts that together are [0, n), at the same time.
func InParts(n int, f func(from, to int) error) error {
	workers := parallel.Workers(min(max(1, n/readsPerWorker), mostWorkers))
	return parallel.Each(workers, workers, func(i int) error { return f(i*n/workers, (i+1)*n/workers) })
}

// InTurns calls f for each of n parts, as many at the same time as there are cores.
func InTurns(n int, f func(i int) error) error {
	return parallel.Each(parallel.Workers(min(n, mostWorkers)), n, f)
}
