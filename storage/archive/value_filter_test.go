package archive_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Every match is found as if all were read, however checkpoints overlap: a group that was replaced by one of another
// value does not come back.
func TestValueFilterAmongOperands(t *testing.T) {
	const seed = 15
	rng := rand.New(rand.NewPCG(seed, seed))
	s := open(t, vfs.NewMem())
	defer s.Close()
	id := uuid.New()
	decoded, all := 0, 0
	for k := range 60 {
		// Stretches of a level, so that vectors are left out of the base and of later operands.
		commit(t, s, func(c *archive.Checkpoint) {
			c.PutGroups(id, minutes(rng.IntN(9000), 1+rng.IntN(1+rng.IntN(3000)), float64(rng.IntN(9)*10_000)))
		})
		if k%7 == 0 {
			fatal.If(t, s.Compact())
		}
		for range 20 {
			low := float64(rng.IntN(100_000))
			zone := carbonara.Zone{Low: low, High: low + float64(rng.IntN(3000))}
			asked := model.Read{Metric: &model.Metric{ID: id}, Granularity: time.Minute, From: 0,
				To: carbonara.MaxTimestamp, ValueFilter: &carbonara.ValueFilter{Method: carbonara.Sum, Zone: zone}}
			if rng.IntN(3) == 0 {
				asked.From = carbonara.Timestamp(rng.IntN(9000)) * carbonara.Timestamp(time.Minute)
				asked.To = asked.From + carbonara.Timestamp(rng.IntN(4000))*carbonara.Timestamp(time.Minute)
			}
			timespan := time.Duration(rng.IntN(3)) * 4000 * time.Minute
			find := func() (starts []carbonara.Timestamp, values []float64) {
				var g carbonara.Groups
				g.Reset(time.Minute, columns)
				if corrupt, err := s.KeptGroups(t.Context(), &asked, timespan, &g); err != nil || corrupt != 0 {
					t.Fatal(corrupt, err)
				}
				if asked.ValueFilter != nil {
					decoded += g.Len()
				} else {
					all += g.Len()
				}
				for i, v := range g.Values[1] {
					if v >= zone.Low && v <= zone.High {
						starts, values = append(starts, g.Starts[i]), append(values, v)
					}
				}
				return starts, values
			}
			gotStarts, gotValues := find()
			asked.ValueFilter = nil
			wantStarts, wantValues := find()
			if !slices.Equal(gotStarts, wantStarts) || !slices.Equal(gotValues, wantValues) {
				t.Fatalf("checkpoint %d, %v: found %d groups of %d", k, zone, len(gotStarts), len(wantStarts))
			}
		}
	}
	if decoded > all*3/5 { // what lies in several operands is decoded of each whose zone meets it
		t.Errorf("%d groups of %d were decoded", decoded, all)
	}
}
