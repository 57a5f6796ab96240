package metamorphic_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

var (
	historySeed = flag.Uint64("history.seed", 0,
		"seed of the first history of TestArchivesEqualRecomputation; the next has the next one")
	historyRounds = flag.Int("history.rounds", 40, "histories of TestArchivesEqualRecomputation")
)

func policies(t testing.TB) []*model.ArchivePolicy {
	t.Helper()
	make := func(name string, backWindow int, methods []string,
		definition ...model.DefinitionInput) *model.ArchivePolicy {
		p, err := model.NewArchivePolicy(name, backWindow, definition, methods)
		fatal.If(t, err)
		return p
	}
	item := func(granularity, timespan time.Duration) model.DefinitionInput {
		if timespan == 0 {
			return model.DefinitionInput{Granularity: &granularity}
		}
		return model.DefinitionInput{Granularity: &granularity, Timespan: &timespan}
	}
	return []*model.ArchivePolicy{
		make("default methods", 0, nil, item(time.Minute, 7*24*time.Hour), item(time.Hour, 0)),
		make("short", 2, []string{"mean", "last", "std"}, item(time.Second, time.Minute), item(time.Minute, time.Hour)),
		make("rate", 0, []string{"rate:mean", "rate:last", "sum", "rate:std"}, item(10*time.Second, 0),
			item(time.Minute, 2*time.Hour)),
		make("percentiles", 1, []string{"median", "95pct", "rate:10pct", "count"}, item(10*time.Second, time.Hour),
			item(5*time.Minute, 0)),
		make("not dividing", 1, []string{"mean", "min", "max", "first", "std"}, item(7*time.Second, 0),
			item(time.Minute, 0)),
		make("sub-second", 3, []string{"sum", "count", "rate:sum"}, item(100*time.Millisecond, 10*time.Minute),
			item(time.Second, 0)),
	}
}

// request is one POST in a history.
type request struct {
	measures model.Measures
}

// history makes requests whose times mostly advance, with late, repeated and far too late measures among them.
func history(rng *rand.Rand, ids []uuid.UUID, requests int) []request {
	clock := carbonara.Timestamp(1_700_000_000e9) + carbonara.Timestamp(rng.Int64N(int64(time.Hour)))
	var h []request
	for range requests {
		var r request
		r.measures.Offsets = []int{0}
		clock += carbonara.Timestamp(rng.ExpFloat64() * float64(20*time.Second))
		if rng.IntN(30) == 0 {
			clock += carbonara.Timestamp(rng.Int64N(int64(5 * time.Hour)))
		}
		for _, id := range ids {
			if rng.IntN(3) == 0 {
				continue
			}
			t := clock
			for range 1 + rng.IntN(5) {
				t += carbonara.Timestamp(rng.Int64N(int64(3 * time.Second)))
				at := t
				switch rng.IntN(12) {
				case 0:
					at -= carbonara.Timestamp(rng.Int64N(int64(90 * time.Second)))
				case 1:
					at -= carbonara.Timestamp(rng.Int64N(int64(3 * time.Hour)))
				case 2:
					at = at.Floor(time.Minute)
				}
				value := math.Round(rng.NormFloat64()*1000) / 10
				switch rng.IntN(100) {
				case 0:
					value = math.NaN()
				case 1, 2, 3, 4: // sums round the others away
					value = math.Copysign(1e16, value)
				}
				r.measures.Timestamps = append(r.measures.Timestamps, at)
				r.measures.Values = append(r.measures.Values, value)
			}
			r.measures.Metrics = append(r.measures.Metrics, id)
			r.measures.Offsets = append(r.measures.Offsets, len(r.measures.Values))
		}
		h = append(h, r)
	}
	return h
}

func createMetrics(t testing.TB, n *testnode.Node, policies []*model.ArchivePolicy, ids []uuid.UUID) {
	t.Helper()
	ctx := context.Background()
	for i, p := range policies {
		fatal.If(t, n.Index.CreateArchivePolicy(ctx, p))
		fatal.If(t, n.Index.CreateMetric(ctx, &model.Metric{ID: ids[i], ArchivePolicy: p, Creator: "admin"}))
	}
}

func metricIDs(rng *rand.Rand, n int) []uuid.UUID {
	ids := make([]uuid.UUID, n)
	for i := range ids {
		for b := range ids[i] {
			ids[i][b] = byte(rng.Uint32())
		}
	}
	return ids
}

func requireArchives(t testing.TB, n *testnode.Node, ids []uuid.UUID, references []reference) {
	t.Helper()
	for i, id := range ids {
		for _, g := range references[i].policy.Plan().Granularities {
			requireEqual(t, references[i].policy.Name, n.Read(id, g), references[i].groups(t, g))
		}
	}
	sizes, err := n.Metricd.Sizes(context.Background(), ids)
	fatal.If(t, err)
	for i := range ids {
		if r := &references[i]; sizes[i].Dropped != r.dropped || sizes[i].Late != r.late {
			t.Fatalf("%s: %d measures dropped, %d late, want %d and %d", r.policy.Name, sizes[i].Dropped,
				sizes[i].Late, r.dropped, r.late)
		}
	}
}

// TestArchivesEqualRecomputation runs one history under many schedules of processing: sacks, workers, checkpoints,
// restarts with and without a last checkpoint, reads in between.
func TestArchivesEqualRecomputation(t *testing.T) {
	rounds := *historyRounds
	if testing.Short() {
		rounds = min(rounds, 8)
	}
	for round := range rounds {
		seed := *historySeed + uint64(round)
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 7))
			policies := policies(t)
			ids := metricIDs(rng, len(policies))
			sacks := []int{1, 2, 3, 16}[rng.IntN(4)]
			options := testnode.Options{FS: vfs.NewMem(), Sacks: sacks, Workers: 1 + rng.IntN(4)}
			if rng.IntN(2) == 0 { // heads are forgotten, and memory asks for checkpoints
				options.HeadBytes = int64(1 + rng.IntN(20_000))
			}
			n := testnode.Start(t, options)
			createMetrics(t, n, policies, ids)
			references := make([]reference, len(ids))
			for i, p := range policies {
				references[i].policy = p
			}
			checkpointEvery, restartEvery := 1+rng.IntN(20), 5+rng.IntN(40)
			for k, r := range history(rng, ids, 60+rng.IntN(60)) {
				fatal.If(t, n.Post(&r.measures))
				for i, id := range r.measures.Metrics {
					for j := range ids {
						if ids[j] == id {
							timestamps, values := r.measures.Of(i)
							references[j].request(timestamps, values)
						}
					}
				}
				if rng.IntN(checkpointEvery) == 0 {
					fatal.If(t, n.Metricd.Checkpoint(context.Background()))
				}
				if k%restartEvery == restartEvery-1 {
					n.Restart(rng.IntN(2) == 0)
				}
				if rng.IntN(25) == 0 {
					requireArchives(t, n, ids, references)
				}
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

// TestArchivesDoNotDependOnOrderOrBatches sends the same measures, all within the back window and none twice at one
// instant, in different orders and cuts.
func TestArchivesDoNotDependOnOrderOrBatches(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	policies := policies(t)
	const measures = 400
	var want []*carbonara.Groups
	base := carbonara.Timestamp(1_700_000_000e9).Floor(time.Hour)
	timestamps, values := make([]carbonara.Timestamp, measures), make([]float64, measures)
	for i := range timestamps {
		// Within one second, so that every policy's current block holds all of them.
		timestamps[i] = base + carbonara.Timestamp(i)*carbonara.Timestamp(time.Millisecond)*2
		values[i] = rng.NormFloat64() * 1e6
	}
	for variant := range 12 {
		ids := metricIDs(rng, len(policies))
		n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1 + rng.IntN(8), Workers: 1 + rng.IntN(3)})
		createMetrics(t, n, policies, ids)
		order := rng.Perm(measures)
		if variant == 0 {
			for i := range order {
				order[i] = i
			}
		}
		for from := 0; from < measures; {
			to := min(measures, from+1+rng.IntN(measures/(1+variant)))
			if variant == 0 {
				to = measures
			}
			var m model.Measures
			m.Offsets = []int{0}
			for _, id := range ids {
				for _, i := range order[from:to] {
					m.Timestamps = append(m.Timestamps, timestamps[i])
					m.Values = append(m.Values, values[i])
				}
				m.Metrics = append(m.Metrics, id)
				m.Offsets = append(m.Offsets, len(m.Values))
			}
			fatal.If(t, n.Post(&m))
			if rng.IntN(3) == 0 {
				fatal.If(t, n.Metricd.Checkpoint(context.Background()))
			}
			from = to
		}
		k := 0
		for i, p := range policies {
			for _, g := range p.Plan().Granularities {
				got := n.Read(ids[i], g)
				if variant == 0 {
					want = append(want, got)
				} else {
					requireEqual(t, fmt.Sprintf("variant %d, %s", variant, p.Name), got, want[k])
				}
				k++
			}
		}
		n.Stop(context.Background())
	}
}
