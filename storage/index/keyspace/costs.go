package keyspace

// Costs say how much is read of the index in the hope that it spares more. Resources in a scan of all take some 0.9 µs
// of CPU each; read by their IDs 3 µs if their blocks are in memory, ten times that if not: docs/explain/benchmarks.md.
type Costs struct {
	FewCandidates int // that are read at once
	StreamedRows  int // that are read in the order of the page, before another way is tried
	ScansPerRead  int // resources that are scanned in the time that one takes to be read by its ID
}

var DefaultCosts = Costs{FewCandidates: 5_000, StreamedRows: 10_000, ScansPerRead: 6}
