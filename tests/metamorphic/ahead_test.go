package metamorphic_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// timedRequest is a request and the time at which it is accepted.
type timedRequest struct {
	request
	at int64
}

// aheadHistory makes requests of one present, or of a past that is loaded, by a clock that goes on by itself. Measures
// of a wrong year are among them, and forecasts whose time comes.
func aheadHistory(rng *rand.Rand, requests []request) []timedRequest {
	const newest = int64(1_700_000_000e9 + 30*24*time.Hour)
	clock := newest - int64(rng.IntN(2))*int64(29*24*time.Hour+12*time.Hour)
	var all []timedRequest
	for _, r := range requests {
		clock += int64(rng.ExpFloat64() * float64(2*time.Minute))
		for i := range r.measures.Timestamps {
			switch rng.IntN(40) {
			case 0:
				const year = carbonara.Timestamp(365 * 24 * time.Hour)
				r.measures.Timestamps[i] += carbonara.Timestamp(1+rng.Int64N(60)) * year
			case 1, 2:
				r.measures.Timestamps[i] = carbonara.Timestamp(clock + rng.Int64N(int64(3*time.Hour)))
			}
		}
		all = append(all, timedRequest{r, clock})
	}
	return all
}

// TestMeasuresAheadEvictNothing holds archives with measures ahead to recomputation under many schedules.
func TestMeasuresAheadEvictNothing(t *testing.T) {
	rounds := *historyRounds
	if testing.Short() {
		rounds = min(rounds, 8)
	}
	for round := range rounds {
		seed := *historySeed + uint64(round)
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 31))
			policies := policies(t)
			ids := metricIDs(rng, len(policies))
			var clock int64
			options := testnode.Options{FS: vfs.NewMem(), Sacks: 1 + rng.IntN(3), Workers: 1 + rng.IntN(3),
				Clock: func() int64 { return clock }}
			if rng.IntN(2) == 0 {
				options.HeadBytes = int64(1 + rng.IntN(20_000))
			}
			n := testnode.Start(t, options)
			createMetrics(t, n, policies, ids)
			references := make([]reference, len(ids))
			for i, p := range policies {
				references[i].policy = p
			}
			checkpointEvery, restartEvery := 1+rng.IntN(20), 5+rng.IntN(40)
			ahead := 0
			for k, r := range aheadHistory(rng, history(rng, ids, 60+rng.IntN(60))) {
				clock = r.at
				fatal.If(t, n.Post(&r.measures))
				for i, id := range r.measures.Metrics {
					for j := range ids {
						if ids[j] == id {
							timestamps, values := r.measures.Of(i)
							references[j].requestAt(r.at, timestamps, values)
							ahead += len(references[j].ahead)
						}
					}
				}
				if rng.IntN(checkpointEvery) == 0 {
					fatal.If(t, n.Metricd.Checkpoint(context.Background()))
				}
				if k%restartEvery == restartEvery-1 {
					n.Restart(rng.IntN(2) == 0)
				}
				if rng.IntN(10) == 0 {
					requireArchives(t, n, ids, references)
				}
			}
			if ahead == 0 {
				t.Error("no measure was ahead")
			}
			requireArchives(t, n, ids, references)
			fatal.If(t, n.Metricd.Compact(context.Background()))
			requireArchives(t, n, ids, references)
			n.Restart(true)
			requireArchives(t, n, ids, references)
			n.Stop(context.Background())
		})
	}
}
