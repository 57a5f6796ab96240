// Package metrics is the metrics of the index: their creation and end, look-ups by ID, name and labels, lists of them.
//
// Table.Lookup is on the path of measures in, for each metric of each request. Resources are created and changed above.
// The resulting changes of their metrics go through SetMetrics, Put and MarkDeleted, into the same commits.Change. Read
// table.go first, then metrics.go and cache.go; search.go walks keys for Query.
//
// Locks: the highest ID belongs to the log's lock, which a check holds. The cache is read without one; its own lock
// guards changes, and comes after the log's. listsMu guards the creators of lists alone. Invariants:
//
//   - A metric in the cache is live and durable, and no older than the generation at which it was read.
//   - A metric handed out is never modified; Generation tells when what it says may have changed.
//   - An archive policy is there before its metrics, so policies are asked for after a metric's value was read.
package metrics
