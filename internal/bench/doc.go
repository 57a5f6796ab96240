// Package bench measures a server that speaks Gnocchi's REST API, from outside: over HTTP, in /proc and in the files on
// disk. So the same program drives a child `gnocco serve` and any other server, and nothing of the server's inside can
// flatter the figures.
//
// Read Ingest first; Freshness, Read, Disk and Memory are built of the same parts:
//
//   - workload: series made from a seed, 20 kinds of meter, and what their aggregates must be;
//   - body: requests, encoded before the clock starts;
//   - client: HTTP on a given number of connections;
//   - Server: the process measured, a child or someone else's; usage is what it has used so far;
//   - floor: a server in a child process that does nothing but HTTP, to show what net/http and the client cost;
//   - Report: lines in the format of Go's benchmarks, for benchstat.
//
// Archive stands apart: it measures the format of the archives, in process, beside other formats.
//
// Invariants: an answer that is wrong is an error, never a figure; a figure that cannot be had (the bytes written by a
// process of another user, say) is left out, never guessed; the expected aggregates are computed here, plainly, and
// not by package carbonara.
//
// CPU seconds are the figure to compare on a shared machine; wall time suffers most from other load.
package bench
