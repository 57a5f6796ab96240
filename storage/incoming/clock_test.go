package incoming_test

import (
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// stampedStore is a store whose clock stands still unless it is set.
type stampedStore struct {
	*incoming.Store
	now int64
}

func openStamped(t *testing.T, fs vfs.FS, clock uuid.UUID, now int64) *stampedStore {
	t.Helper()
	s := &stampedStore{now: now}
	var err error
	s.Store, err = incoming.Open("incoming", incoming.Options{FS: fs, Sacks: sacks,
		Clock: incoming.Clock{ID: clock, Now: func() int64 { return s.now }}})
	fatal.If(t, err)
	return s
}

func someBlock() incoming.Block {
	made, _ := blocks(rand.New(rand.NewPCG(1, 1)), 1, 0) // of the first sack
	return made[0]
}

func (s *stampedStore) post(t *testing.T) {
	t.Helper()
	fatal.If(t, s.Append(t.Context(), []incoming.Block{someBlock()}))
}

func (s *stampedStore) stamps(t *testing.T) (stamps []incoming.Stamp) {
	t.Helper()
	records, err := s.Drain(0, 0, 1<<20)
	fatal.If(t, err)
	for _, r := range records {
		stamps = append(stamps, r.Stamp)
	}
	return stamps
}

// Stamps rise with the sequences, are the same from memory and from the disk, and keep the clock that they were taken
// from; the frontier is behind all that is published, and before all that is not.
func TestStamps(t *testing.T) {
	fs := vfs.NewMem()
	first, second := uuid.UUID{1}, uuid.UUID{2}
	s := openStamped(t, fs, first, 1000)
	s.post(t)
	s.post(t) // at the same moment
	if f, ok := s.Frontier(0, s.Last(0)); !ok || f != (incoming.Stamp{Clock: first, At: 1001}) {
		t.Errorf("frontier is %v", f)
	}
	if _, ok := s.Frontier(0, s.Last(0)-1); ok {
		t.Error("a frontier before a record")
	}
	s.now = 2000
	if f, ok := s.Frontier(0, s.Last(0)); !ok || f != (incoming.Stamp{Clock: first, At: 2000}) {
		t.Errorf("frontier is %v", f)
	}
	s.post(t)
	want := []incoming.Stamp{{Clock: first, At: 1000}, {Clock: first, At: 1001}, {Clock: first, At: 2001}}
	equalStamps(t, s.stamps(t), want)
	fatal.If(t, s.Close())

	s = openStamped(t, fs, second, 500)
	s.post(t)
	equalStamps(t, s.stamps(t), append(want, incoming.Stamp{Clock: second, At: 500}))
	fatal.If(t, s.Acknowledge(0, s.Last(0)-1))
	fatal.If(t, s.Close())
	s = openStamped(t, fs, first, 500)
	equalStamps(t, s.stamps(t), []incoming.Stamp{{Clock: second, At: 500}})
	fatal.If(t, s.Close())
}

func equalStamps(t *testing.T, got, want []incoming.Stamp) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("stamps %v, want %v", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("stamps %v, want %v", got, want)
		}
	}
}
