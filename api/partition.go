package api

import (
	"slices"
	"time"

	"gnocco/model"
	"gnocco/storage/incoming"
)

// partition sorts the indexes of the metrics by sack, in one pass to count and one to place. Metrics without
// measures are left out.
func (s *incomingScratch) partition(sacks int) {
	s.ends = slices.Grow(s.ends[:0], sacks)[:sacks]
	clear(s.ends)
	kept := 0
	for i, metric := range s.measures.Metrics {
		if s.measures.Offsets[i] < s.measures.Offsets[i+1] {
			s.ends[model.Sack(metric, sacks)]++
			kept++
		}
	}
	start := 0
	for sack, n := range s.ends {
		s.ends[sack] = start // moved to the end as the sack fills
		start += n
	}
	s.bySack = slices.Grow(s.bySack[:0], kept)[:kept]
	for i, metric := range s.measures.Metrics {
		if s.measures.Offsets[i] < s.measures.Offsets[i+1] {
			end := &s.ends[model.Sack(metric, sacks)]
			s.bySack[*end] = i
			*end++
		}
	}
}

// encode writes one block for each sack that got measures.
func (s *incomingScratch) encode(accepted time.Time) {
	s.data, s.blocks = s.data[:0], s.blocks[:0]
	from := 0
	for sack, to := range s.ends {
		if from < to {
			at := len(s.data)
			s.data = incoming.AppendBlock(s.data, &s.measures, s.bySack[from:to], accepted)
			// Should data move as it grows, what is here already stays readable in the old memory.
			s.blocks = append(s.blocks, incoming.Block{Sack: sack, Data: s.data[at:len(s.data):len(s.data)]})
		}
		from = to
	}
}
