package server

import "github.com/gnocco-db/gnocco/cluster"

const (
	lookupBytes = 150 // of a metric in the index's cache, about
	knownBytes  = 100 // of a name beside it, alone and in a list, about
)

// memoryShares are the parts of the memory limit.
type memoryShares struct {
	stores       cluster.Memory
	knownMetrics int
	requests     int64 // the budget that requests share

	labels  int64 // of series, for PromQL, once somebody asks for them; of the budget of requests
	samples int   // that a query in PromQL may hold

	exemplars int64
}

// sampleBytes is what a query in PromQL holds of a sample.
const sampleBytes = 16

// BlockBytes returns the part of a memory limit that blocks read from disk and memtables have.
func BlockBytes(limit int64) int64 { return divideMemory(limit).stores.BlockBytes }

// divideMemory divides the limit. Checkpoints, flushes and the garbage collector work in what is not
// in use of the parts, mostly of the requests'.
func divideMemory(limit int64) memoryShares {
	part := limit / 32
	exemplars := part / 4
	return memoryShares{
		exemplars: exemplars,
		requests:  12*part - exemplars,
		stores: cluster.Memory{
			BlockBytes:    6 * part,
			MemTableBytes: 4 * part, // of BlockBytes
			HeadBytes:     8 * part,
			GroupBytes:    part,
			RecentBytes:   int(2 * part),
			Lookups:       int(2 * part / lookupBytes),
		},
		knownMetrics: int(part / knownBytes),
		labels:       4 * part,
		samples:      int(4 * part / sampleBytes),
	}
}
