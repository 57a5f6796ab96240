// Package ingest takes measures from a decoded request to the incoming store. It is the one way in: the API's protocols
// and statsd use it. Read ingester.go first, then named.go.
//
// Gnocchi's clients name metrics by ID; Append makes their measures durable. Other databases' clients name metrics by
// the labels or tags of a series, and expect them to exist: AppendNamed finds the metric of each row, and creates
// resources, types and metrics that are missing. A protocol whose labels are all kept (series.go) has no resources. It
// checks everything before it creates anything, and what the sender may do is for the sender's Rights to say. Known
// names stay in memory (known_metrics.go), by a hash of the sender's bytes: a lookup in the index reads a resource. The
// same holds for repeated lists of names, such as the fields of a line.
package ingest
