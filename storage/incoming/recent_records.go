package incoming

import (
	"slices"
	"sort"
	"time"
)

// recentRecords holds the latest records of a sack in memory: all those behind floor.
type recentRecords struct {
	records []recentRecord // ascending by sequence
	floor   uint64         // the last sequence that is not held any more
	size    int            // of records, in bytes
}

type recentRecord struct {
	Record
	before   total
	accepted time.Time
}

// recordOverhead is about what a record takes beside its block, in bytes: small blocks must not be free.
const recordOverhead = 100

func (r *recentRecord) size() int { return len(r.Block) + recordOverhead }

// keptRecords bounds the room for records that is kept when there are fewer.
const keptRecords = 256

// search returns the index of the first record behind sequence.
func (r *recentRecords) search(sequence uint64) int {
	return sort.Search(len(r.records), func(i int) bool { return r.records[i].Sequence > sequence })
}

// drop lets go of the first n records and returns their size.
func (r *recentRecords) drop(n int) int {
	if n == 0 {
		return 0
	}
	size := 0
	for i := range r.records[:n] {
		size += r.records[i].size()
	}
	r.floor = r.records[n-1].Sequence
	r.size -= size
	if rest := r.records[n:]; len(rest) <= n && cap(r.records) <= keptRecords {
		r.records = slices.Delete(r.records, 0, n)
	} else {
		clear(r.records[:n]) // the array stays until append moves the rest
		r.records = rest
	}
	return size
}

// first returns the first records, as many as fit into maxBytes, and at least one.
func (r *recentRecords) first(maxBytes int) []Record {
	n, bytes := 0, 0
	for n < len(r.records) && (n == 0 || bytes+len(r.records[n].Block) <= maxBytes) {
		bytes += len(r.records[n].Block)
		n++
	}
	records := make([]Record, n)
	for i := range records {
		records[i] = r.records[i].Record
	}
	return records
}
