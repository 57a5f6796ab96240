package incidents

import (
	"flag"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/gnocco-db/gnocco/internal/parallel"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

var allSeeds = flag.Int("incidents.seeds", 300, "fleets of each kind, without -short")

// alarm is the score that nothing in a quiet hour may have.
const alarm = 4

// The cause of an incident is among the first three, and its effects are among the first twenty, while most of a fleet
// moves as every day. -v prints the table.
func TestIncidentsAreFound(t *testing.T) {
	seeds := *allSeeds
	if testing.Short() {
		seeds = 20
	}
	methods := []struct {
		name  string
		score Score
	}{{"seasons", BySeasons}, {"four days", ByFourDays}, {"three days", ByThreeDays}, {"hour before", ByHourBefore},
		{"Kolmogorov-Smirnov", KolmogorovSmirnov}}
	t.Logf("%d seeds, 200 series each: cause among 3, effects among 20, false alarms, in %%", seeds)
	for _, o := range []Options{{}, {Season: 3}, {Season: 6}, {Season: 10}, {Season: 20}, {Season: 6, Week: Monday},
		{Season: 6, Week: Saturday}, {Season: 6, Week: Weekly}} {
		found := make([]struct{ causes, effects, alarms atomic.Int64 }, len(methods))
		fatal.If(t, parallel.Each(runtime.GOMAXPROCS(0), seeds, func(seed int) error {
			o := o
			o.Seed, o.Series = uint64(seed), 200
			fleet := New(o)
			o.Quiet = true
			quiet := New(o)
			for i, method := range methods {
				j := fleet.Judge(method.score)
				if j.Cause {
					found[i].causes.Add(1)
				}
				found[i].effects.Add(int64(j.Effects))
				if quiet.Judge(method.score).Highest >= alarm {
					found[i].alarms.Add(1)
				}
			}
			return nil
		}))
		for i, method := range methods {
			percent := func(n *atomic.Int64, of int) float64 { return 100 * float64(n.Load()) / float64(of*seeds) }
			f := &found[i]
			cause, effect, alarm := percent(&f.causes, 1), percent(&f.effects, Effects), percent(&f.alarms, 1)
			t.Logf("%2.0f σ, %-9v %-18s %5.1f %5.1f %5.1f", o.Season, o.Week, method.name, cause, effect, alarm)
			if i == 0 && o.Season <= 10 && o.Week == EveryDay && (cause < 90 || effect < 95 || alarm > 5) {
				t.Errorf("a season of %v σ: cause %v %%, effects %v %%, false alarms %v %%", o.Season, cause, effect, alarm)
			}
		}
	}
}
