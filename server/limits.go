package server

import (
	"log/slog"
	"math"

	"golang.org/x/sys/unix"

	"github.com/gnocco-db/gnocco/cluster"
)

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

// The files that a process opens beside its clients' connections. A process that runs out of descriptors cannot write
// its heartbeat, and loses its lease.
const (
	mostTables      = 512
	tablesShare     = 4  // tables get one descriptor in so many
	filesPerStore   = 10 // log, manifest, lock, five handles of the folder; a table and a log that are being written
	storesBeside    = 2  // the sacks: the index, and the store of incoming measures
	otherFiles      = 32 // listeners, files of the cluster, the log, the runtime's own
	connectionParts = 3  // a client's connection, another one to pass on its request, one from another process
	minConnections  = 16
	listenerShare   = 8 // a listener, as Graphite's, gets one descriptor in so many of those for connections
	maxPerListener  = 1000
)

// openFiles returns how many descriptors the process may have. Go has raised the soft limit to the hard one.
func openFiles() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return math.MaxInt32
	}
	return int(min(limit.Cur, math.MaxInt32))
}

// tablesOf returns how many tables stay open in a process of so many descriptors.
func tablesOf(files int) int { return min(files/tablesShare, mostTables) }

// connectionsOf returns how many connections clients may have in a process of so many descriptors, and other processes
// as many. The number of sacks bounds the stores. Each listener has as many connections of its own as perListener says.
func connectionsOf(files, sacks, listeners int) (clients, perListener int) {
	stores := (sacks + storesBeside) * filesPerStore
	left := files - tablesOf(files) - stores - otherFiles
	perListener = min(max(left/listenerShare, minConnections), maxPerListener)
	return max((left-listeners*perListener)/connectionParts, minConnections), perListener
}

// limitByFiles bounds the clients' connections by asked and by the descriptors of the process.
func limitByFiles(clients interface{ SetLimit(int) }, asked, most, files int, logger *slog.Logger) {
	if most < asked {
		logger.Warn("the limit of open files allows fewer connections than --max-connections: raise it "+
			"(LimitNOFILE= in a systemd unit, ulimit -n in a shell), or ask for fewer",
			"asked", asked, "connections", most, "files", files)
	}
	clients.SetLimit(min(asked, most))
}
