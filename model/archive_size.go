package model

import "time"

// ArchiveSize is what a metric takes: bytes of keys and values as given to Pebble, before it compresses blocks. It also
// counts the metric's measures that were dropped, as older than the back window, or late, but not too late for it.
type ArchiveSize struct {
	Raw     int64                   // the raw series
	Splits  map[time.Duration]int64 // by granularity
	Dropped uint64                  // measures
	Late    uint64                  // measures; 0 from a peer of an earlier build
}

// Total returns all bytes.
func (s *ArchiveSize) Total() int64 {
	total := s.Raw
	for _, bytes := range s.Splits {
		total += bytes
	}
	return total
}
