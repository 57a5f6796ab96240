// Package activity knows what the queries of one process do: those that run, those that have cost most, and the metrics
// that none has read. All of it is in memory and bounded, and starts anew with the process.
//
// A Tracker has a Query for each request that reads aggregates or searches. The costs of ended queries are in a table
// of 256 rows (the space-saving sketch), and the metrics that were read in a Bloom filter of 1 MiB. Together they take
// 1.3 MiB. A Report says all of it, and Merge brings the reports of a cluster's processes together.
//
// Start with query.go.
package activity
