package server

// memory says what the limit is spent on.
type memory struct {
	blocks  int64 // bytes of the block cache that all stores share
	heads   int64 // bytes of measures that are not in a checkpoint yet
	tail    int   // bytes of measures just accepted that workers need not read back
	lookups int   // metrics kept by the index
	known   int   // metrics kept by their names in other databases' protocols
}

const (
	lookupBytes = 200 // about what a metric takes in the index's cache
	knownBytes  = 200 // about what a name takes beside it
)

// divideMemory gives a quarter each to blocks, heads and lookups and an eighth to the tail, a sixteenth to names. The rest is for what grows with
// the requests in flight.
func divideMemory(limit int64) memory {
	return memory{
		blocks:  limit / 4,
		heads:   limit / 4,
		tail:    int(limit / 8),
		lookups: int(limit / 4 / lookupBytes),
		known:   int(limit / 16 / knownBytes),
	}
}

// The file cache keeps tables open. Linux allows a process 1,024 files at first, and Go raises that to the hard limit; a half
// of the smaller is left for connections and logs.
const (
	openFiles       = 512
	fileCacheShards = 8
)
