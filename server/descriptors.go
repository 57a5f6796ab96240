package server

import (
	"log/slog"
	"math"

	"golang.org/x/sys/unix"
)

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
// as many. The number of sacks bounds the stores.
func connectionsOf(files, sacks int) int {
	stores := (sacks + storesBeside) * filesPerStore
	return max((files-tablesOf(files)-stores-otherFiles)/connectionParts, minConnections)
}

// limitByFiles bounds the clients' connections by asked and by the descriptors of the process.
func limitByFiles(clients interface{ SetLimit(int) }, asked, files, sacks int, logger *slog.Logger) {
	most := connectionsOf(files, sacks)
	if most < asked {
		logger.Warn("the limit of open files allows fewer connections than --max-connections: raise it "+
			"(LimitNOFILE= in a systemd unit, ulimit -n in a shell), or ask for fewer",
			"asked", asked, "connections", most, "files", files)
	}
	clients.SetLimit(min(asked, most))
}
