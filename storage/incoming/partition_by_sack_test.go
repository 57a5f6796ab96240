package incoming_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/incoming"
)

// The blocks of a request hold each metric with measures once, in the block of its sack.
func TestPartition(t *testing.T) {
	const sacks, metrics = 5, 100
	var p incoming.Partition
	var m model.Measures
	for round := range 3 { // the memory is used again
		m.Reset()
		m.Offsets = append(m.Offsets, 0)
		for i := range metrics {
			m.Metrics = append(m.Metrics, uuid.New())
			for j := range i % 3 { // none, one or two
				m.Timestamps = append(m.Timestamps, carbonara.Timestamp(j))
				m.Values = append(m.Values, float64(i))
			}
			m.Offsets = append(m.Offsets, m.Len())
		}
		blocks := p.Blocks(&m, sacks, time.Unix(int64(round), 0))
		seen := 0
		for _, block := range blocks {
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
			t.Errorf("%d metrics in %d blocks", seen, len(blocks))
		}
	}
}
