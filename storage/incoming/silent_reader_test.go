package incoming_test

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Measures wait that a reader of another process has brought over and not processed. Once it is silent, so do those
// that it has not saved.
func TestBacklogOfReaderElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, incoming.Options{})
		defer closeStore(t, s)
		rng := rand.New(rand.NewPCG(5, 5))
		for range 3 {
			all, _ := blocks(rng, 10, 0)
			appendBlocks(t, s, all)
		}
		want := func(what string, measures, requests int) {
			t.Helper()
			b := s.Backlog()
			pending, err := s.PendingByMetric()
			if b.Measures != measures || b.Blocks != requests || len(pending) != requests || err != nil ||
				b.Oldest.IsZero() != (measures == 0) {
				t.Errorf("%s: %d measures of %d requests wait, %d metrics, %v; want %d of %d", what, b.Measures, b.Blocks,
					len(pending), err, measures, requests)
			}
		}
		poll := func(after, processed uint64) []incoming.Record {
			t.Helper()
			records, err := s.Poll(0, after, processed, 1<<20)
			fatal.If(t, err)
			return records
		}
		records := poll(0, 0)
		want("sent", 30, 3)
		last := records[2].Sequence
		poll(last, 0)
		want("brought over", 30, 3)
		poll(last, records[0].Sequence)
		want("one processed", 20, 2)
		poll(last, last)
		want("all processed", 0, 0)
		time.Sleep(11 * time.Second)
		want("a silent reader", 30, 3)
		fatal.If(t, s.Acknowledge(0, records[1].Sequence))
		all, _ := blocks(rng, 10, 1)
		appendBlocks(t, s, all) // with it goes what was acknowledged
		if _, err := s.Drain(1, s.Last(1), 1); err != nil {
			t.Fatal(err)
		}
		want("two saved", 10, 1)
		poll(last, last)
		want("the reader is back", 0, 0)
		if _, err := s.Drain(0, last, 1); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		want("a reader in this process", 0, 0)
	})
}
