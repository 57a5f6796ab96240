package index

// limits say how much is read of the index in the hope that it spares more. A key takes some 0.2 µs, the resource or
// metric behind one 3 µs, a resource in a scan of all 0.5 µs.
type limits struct {
	fewCandidates  int // that are read at once
	streamedRows   int // that are read in the order of the page, before another way is tried
	manyCandidates int // that are read before all is
}

var defaultLimits = limits{fewCandidates: 5_000, streamedRows: 10_000, manyCandidates: 100_000}
