package index

// limits say how much is read of the index in the hope that it spares more. Resources in a scan of all take some 0.9 µs
// of CPU each; read by their IDs 3 µs if their blocks are in memory, ten times that if not: docs/benchmarks.md.
type limits struct {
	fewCandidates int // that are read at once
	streamedRows  int // that are read in the order of the page, before another way is tried
	scansPerRead  int // resources that are scanned in the time that one takes to be read by its ID
}

var defaultLimits = limits{fewCandidates: 5_000, streamedRows: 10_000, scansPerRead: 6}

// readLimit is how many resources to read, for which most speaks, rather than all to scan.
func (s *Store) readLimit(most int) int {
	return min(most, int(s.resources.Load())/s.limits.scansPerRead)
}
