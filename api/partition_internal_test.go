package api

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"gnocco/carbonara"
	"gnocco/model"
	"gnocco/storage/incoming"
)

// The blocks of a request hold each metric with measures once, in the block of its sack.
func TestPartition(t *testing.T) {
	const sacks, metrics = 5, 100
	var s incomingScratch
	for round := range 3 { // the scratch is used again
		s.measures.Reset()
		s.measures.Offsets = append(s.measures.Offsets, 0)
		for i := range metrics {
			s.measures.Metrics = append(s.measures.Metrics, uuid.New())
			for j := range i % 3 { // none, one or two
				s.measures.Timestamps = append(s.measures.Timestamps, carbonara.Timestamp(j))
				s.measures.Values = append(s.measures.Values, float64(i))
			}
			s.measures.Offsets = append(s.measures.Offsets, s.measures.Len())
		}
		s.partition(sacks)
		s.encode(time.Unix(int64(round), 0))
		seen := 0
		for _, block := range s.blocks {
			var decoded model.Measures
			accepted, err := incoming.DecodeBlock(block.Data, &decoded)
			if err != nil || accepted.Unix() != int64(round) {
				t.Fatal(accepted, err)
			}
			for _, id := range decoded.Metrics {
				if sack := model.Sack(id, sacks); sack != block.Sack {
					t.Errorf("metric of sack %d in the block of sack %d", sack, block.Sack)
				}
				seen++
			}
		}
		if seen != metrics/3*2 {
			t.Errorf("%d metrics in %d blocks", seen, len(s.blocks))
		}
	}
}
