// Package bench measures a server that speaks Gnocchi's REST API from outside: over HTTP, in /proc and by the sizes of
// its files. The same code drives a child `gnocco serve`, of any version, and any other server.
//
// Read Ingest first; Freshness, Read, Aggregates, Disk, Memory, Index and Cluster are built of the same parts:
//
//   - workload: series made from a seed, 20 kinds of meter, and what their aggregates must be;
//   - body: requests, encoded before the clock starts;
//   - client: HTTP on a given number of connections;
//   - server: the process measured, a child or someone else's; usage is what it has used so far;
//   - floor: a server in a child process that does nothing but HTTP, to show what net/http and the client cost;
//   - bench/report: lines in the format of Go's benchmarks, for benchstat.
//
// Two benchmarks know more of Gnocco than its API. Disk opens the archives of a stopped child and compacts them, by
// storage/archive. Cluster starts the processes of a cluster and knows by model.Sack which metric lies in which sack.
//
// Other packages run parts of Gnocco in their own process, without a server: bench/formats the format of the archives
// beside other formats, bench/correlation the correlation of columns, bench/device everything on CUDA devices.
//
// Invariants: a wrong answer is an error, never a figure. A figure that cannot be had is left out, never guessed: the
// bytes that another user's process has written, say. The expected aggregates are computed here, plainly, and not by
// package carbonara.
//
// CPU seconds are the figure to compare on a shared machine; wall time suffers most from other load.
package bench
