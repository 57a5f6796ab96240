package archive_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A read of unfolded operands answers as one of the folded value.
func TestReadsOfOperandsAreThoseOfWhatTheyFoldInto(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(44, seed))
		s := open(t, vfs.NewMem())
		id := uuid.New()
		var raw []carbonara.Timestamp
		for k := range 1 + rng.IntN(40) {
			from, n := rng.IntN(8000), 1+rng.IntN(1+rng.IntN(600))
			commit(t, s, func(c *archive.Checkpoint) {
				c.PutGroups(id, minutes(from, n, float64(k)))
				raw = raw[:0]
				values := make([]float64, n)
				for i := range n {
					raw = append(raw, carbonara.Timestamp(from+i)*carbonara.Timestamp(time.Minute))
					values[i] = float64(k)
				}
				c.AppendRaw(id, carbonara.Timestamp(rng.IntN(3000))*carbonara.Timestamp(time.Minute), raw,
					values)
			})
			if rng.IntN(8) == 0 {
				fatal.If(t, s.DB().Flush())
			}
		}
		type answer struct {
			groups carbonara.Groups
			starts []carbonara.Timestamp
			values []float64
			newest carbonara.Timestamp
		}
		from := carbonara.Timestamp(rng.IntN(9000)) * carbonara.Timestamp(time.Minute)
		to := from + carbonara.Timestamp(rng.IntN(6000))*carbonara.Timestamp(time.Minute)
		read := func() (a answer) {
			a.groups.Reset(time.Minute, columns)
			corrupt, err := s.Groups(id, time.Minute, from, to, &a.groups)
			if corrupt != 0 || err != nil {
				t.Fatal(corrupt, err)
			}
			if a.starts, a.values, _, err = s.Raw(id, nil, nil); err != nil {
				t.Fatal(err)
			}
			if a.newest, _, err = s.Newest(id, time.Minute); err != nil {
				t.Fatal(err)
			}
			return a
		}
		lying := read()
		fatal.If(t, s.Compact())
		folded := read()
		same := slices.Equal(lying.groups.Starts, folded.groups.Starts) && slices.Equal(lying.starts, folded.starts) &&
			slices.Equal(lying.values, folded.values) && lying.newest == folded.newest
		for c := range lying.groups.Values {
			same = same && slices.Equal(lying.groups.Values[c], folded.groups.Values[c])
		}
		if !same {
			t.Errorf("seed %d: %d groups and %d measures as they lie, %d and %d folded", seed,
				lying.groups.Len(), len(lying.starts), folded.groups.Len(), len(folded.starts))
		}
		fatal.If(t, s.Close())
	}
}
