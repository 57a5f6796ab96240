package model

import (
	"time"

	"github.com/google/uuid"
)

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

// ContentRequest asks for a part of the content of a metric's archive, or puts one into it.
type ContentRequest struct {
	Metric uuid.UUID `json:"metric"`
	Token  []byte    `json:"token,omitempty"` // of the part before; nil: the first part
	Put    []byte    `json:"put,omitempty"`   // nil: a part is asked for
}

// Content is the answer.
type Content struct {
	Part    []byte `json:"part,omitempty"`
	Changed bool   `json:"changed,omitempty"` // measures came after the part before: begin again
	Next    []byte `json:"next,omitempty"`    // token of the next part; nil: this was the last one
	Written int    `json:"written,omitempty"` // values of the part that was put, without those that were there
}
