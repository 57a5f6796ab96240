package incoming

import (
	"sort"
	"time"
)

// tail holds the latest records of a sack in memory: all those behind floor.
type tail struct {
	records []tailRecord // ascending by sequence
	floor   uint64       // the last sequence that is not held any more
	size    int          // of records, in bytes
}

type tailRecord struct {
	Record
	before   total
	accepted time.Time
}

// recordOverhead is about what a record takes beside its block, in bytes: small blocks must not be free.
const recordOverhead = 100

func (r *tailRecord) size() int { return len(r.Block) + recordOverhead }

// search returns the index of the first record behind sequence.
func (t *tail) search(sequence uint64) int {
	return sort.Search(len(t.records), func(i int) bool { return t.records[i].Sequence > sequence })
}

// drop lets go of the first n records and returns their size.
func (t *tail) drop(n int) int {
	if n == 0 {
		return 0
	}
	size := 0
	for i := range t.records[:n] {
		size += t.records[i].size()
	}
	t.floor = t.records[n-1].Sequence
	t.size -= size
	clear(t.records[:n]) // the array stays until append moves the rest
	t.records = t.records[n:]
	return size
}

// first returns the first records, as many as fit into maxBytes, and at least one.
func (t *tail) first(maxBytes int) []Record {
	n, bytes := 0, 0
	for n < len(t.records) && (n == 0 || bytes+len(t.records[n].Block) <= maxBytes) {
		bytes += len(t.records[n].Block)
		n++
	}
	records := make([]Record, n)
	for i := range records {
		records[i] = t.records[i].Record
	}
	return records
}
