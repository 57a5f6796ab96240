package metricd_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/seedtest"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// A wide granularity that a rebuild adds counts what the narrow one does, also where the raw series begins late, and
// measures were taken out or filled in.
func TestRebuildToAWideGranularity(t *testing.T) {
	rounds := seedtest.Rounds(40, 150)
	policy := func(name string, window int, granularities ...time.Duration) *model.ArchivePolicy {
		var definition []model.DefinitionInput
		for _, g := range granularities {
			definition = append(definition, model.DefinitionInput{Granularity: &g})
		}
		p, err := model.NewArchivePolicy(name, window, definition, []string{"count", "sum", "last"})
		fatal.If(t, err)
		return p
	}
	for range rounds {
		random := rand.New(rand.NewPCG(seedtest.Next(t), 0))
		n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1})
		window := random.IntN(3)
		narrow := []time.Duration{10 * time.Second, time.Minute}
		wide := append(narrow, 20*time.Minute, time.Hour)
		for _, p := range []*model.ArchivePolicy{policy("narrow", window, narrow...), policy("wide", window, wide...)} {
			fatal.If(t, n.Index.CreateArchivePolicy(t.Context(), p))
		}
		p, err := n.Index.ArchivePolicy("narrow")
		fatal.If(t, err)
		m := &model.Metric{Name: "x", Creator: "u:p", ArchivePolicy: p}
		fatal.If(t, n.Index.CreateMetric(t.Context(), m))
		ids := []uuid.UUID{m.ID}
		at := carbonara.Timestamp(1767225600e9) + carbonara.Timestamp(random.Int64N(3600e9))
		begin := at
		for range 2 + random.IntN(8) {
			switch random.IntN(5) {
			case 0:
				n.Restart(random.IntN(3) > 0)
			case 1: // taken out
				from := begin + carbonara.Timestamp(random.Int64N(int64(at-begin)+1))
				_, err := n.Metricd.Replace(t.Context(), ids, &model.Replacement{From: from,
					To: from + carbonara.Timestamp(1+random.Int64N(1200e9))})
				fatal.If(t, err)
			case 2: // filled in
				old := begin - carbonara.Timestamp(random.Int64N(7200e9))
				r := &model.Replacement{Empty: true, Timestamps: []carbonara.Timestamp{old, old + 1e9},
					Values: []float64{1, 2}}
				_, err := n.Metricd.Replace(t.Context(), ids, r)
				fatal.If(t, err)
				begin = min(begin, old)
			default:
				one := &model.Measures{Metrics: ids, Offsets: []int{0}}
				for range 1 + random.IntN(60) {
					at += carbonara.Timestamp(1 + random.Int64N(40e9))
					one.Timestamps, one.Values = append(one.Timestamps, at), append(one.Values, float64(random.IntN(9)))
				}
				one.Offsets = append(one.Offsets, len(one.Values))
				fatal.If(t, n.Post(one))
			}
		}
		n.Restart(true)
		_, _, err = n.Index.ChangeMetric(t.Context(), m.ID, "wide", time.Now())
		fatal.If(t, err)
		_, err = n.Rebuild(t.Context(), m.ID)
		fatal.If(t, err)
		total := func(groups *carbonara.Groups, from, to carbonara.Timestamp) (sum float64) {
			for i, start := range groups.Starts {
				if start >= from && start < to {
					sum += groups.Column(carbonara.ColumnCount)[i]
				}
			}
			return sum
		}
		fine := n.Read(m.ID, narrow[0])
		for _, g := range wide[1:] {
			coarse := n.Read(m.ID, g)
			for i, start := range coarse.Starts {
				count := coarse.Column(carbonara.ColumnCount)[i]
				if want := total(fine, start, start.Add(g)); count != want {
					t.Errorf("%v at %v has %v measures, and its narrow groups %v", g, start.Time(), count, want)
				}
			}
			if a, b := total(fine, 0, carbonara.MaxTimestamp), total(coarse, 0, carbonara.MaxTimestamp); a != b {
				t.Errorf("%v: %v of %v measures", g, b, a)
			}
		}
		n.Stop(t.Context())
	}
}
