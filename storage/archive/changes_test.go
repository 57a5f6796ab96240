package archive_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A large checkpoint is written as a table, with the effect of a batch, for any sequence of changes of one key.
func TestCheckpointAsTable(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(45, seed))
		table, batch := open(t, vfs.NewMem()), open(t, vfs.NewMem())
		ids := []uuid.UUID{uuid.New(), uuid.New(), uuid.New()}
		padding := make([]byte, 128<<10)
		for k := range 1 + rng.IntN(6) {
			var steps []func(*archive.Checkpoint)
			for range 1 + rng.IntN(12) {
				steps = append(steps, randomStep(rng, ids, k))
			}
			steps = append(steps, func(c *archive.Checkpoint) { c.Quarantine("x", 1, padding) })
			commit(t, table, steps...)
			// A checkpoint that deletes a range is never a table.
			commit(t, batch, append(steps, func(c *archive.Checkpoint) { c.Delete(uuid.New()) })...)
			if n := table.DB().Metrics().Ingest.Count; n != uint64(k+1) {
				t.Fatalf("%d tables after %d checkpoints", n, k+1)
			}
			if rng.IntN(4) == 0 {
				fatal.If(t, table.Compact())
			}
		}
		if n := batch.DB().Metrics().Ingest.Count; n != 0 {
			t.Fatalf("%d tables of batches", n)
		}
		for _, id := range ids {
			sameArchive(t, seed, table, batch, id)
		}
		for _, s := range []*archive.Store{table, batch} {
			if mark, err := s.Mark("api"); err != nil || mark > 6 {
				t.Fatal(mark, err)
			}
		}
	}
}

// randomStep returns something that checkpoints do to one of the metrics.
func randomStep(rng *rand.Rand, ids []uuid.UUID, k int) func(*archive.Checkpoint) {
	id := ids[rng.IntN(len(ids))]
	from, n := rng.IntN(300), 1+rng.IntN(50) // of one split
	groups := minutes(from, n, float64(rng.IntN(1000)))
	switch rng.IntN(6) {
	case 0:
		return func(c *archive.Checkpoint) {
			c.ReplaceSplit(id, carbonara.SplitKeyOf(groups.Starts[0], time.Minute), groups)
		}
	case 1:
		return func(c *archive.Checkpoint) {
			c.Expire(id, time.Minute, 0, carbonara.Timestamp(time.Minute*carbonara.GroupsPerSplit))
		}
	case 2:
		return func(c *archive.Checkpoint) { c.AppendRaw(id, 0, groups.Starts, groups.Values[1]) }
	case 3:
		return func(c *archive.Checkpoint) {
			c.AddDropped(id, uint64(n))
			c.AddLate(id, uint64(from))
			c.SetMark("api", uint64(k))
		}
	default:
		return func(c *archive.Checkpoint) { c.PutGroups(id, groups) }
	}
}

// sameArchive tells where two stores differ in what they have of a metric.
func sameArchive(t *testing.T, seed uint64, a, b *archive.Store, id uuid.UUID) {
	t.Helper()
	encoded := func(s *archive.Store) []byte {
		t.Helper()
		g := read(t, s, id, 0, carbonara.MaxTimestamp)
		timestamps, values, corrupt, rawErr := s.Raw(id, nil, nil)
		dropped, droppedErr := s.Dropped(id)
		late, lateErr := s.Late(id)
		if err := errors.Join(rawErr, droppedErr, lateErr); err != nil || corrupt > 0 {
			t.Fatal(corrupt, err)
		}
		return fmt.Appendf(nil, "%v %v %v %v %v %v", g.Starts, g.Values, timestamps, values, dropped, late)
	}
	if x, y := encoded(a), encoded(b); !bytes.Equal(x, y) {
		t.Fatalf("seed %d: as a table\n%s\nas a batch\n%s", seed, x, y)
	}
}
