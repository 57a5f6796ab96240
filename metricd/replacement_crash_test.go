package metricd_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// A crash at any sync of a deletion leaves the archive as before or as after it, and what was deleted stays deleted.
func TestCrashWhileMeasuresAreTakenOut(t *testing.T) {
	granularities := []time.Duration{minute, time.Hour}
	policy := newPolicy(t, "p", 1, granularities, "mean", "std", "min", "max", "first", "last")
	before, after := 0, 0
	for crash := 1; ; crash++ {
		mem := testnode.NewCrashableFS()
		var mu sync.Mutex
		var crashed *vfs.MemFS
		syncs, armed := 0, false
		fs := testnode.HookSyncs(mem, func(name string) {
			mu.Lock()
			defer mu.Unlock()
			if !armed || !strings.HasPrefix(name, "sacks/") {
				return
			}
			if syncs++; syncs == crash {
				crashed = mem.CrashClone(vfs.CrashCloneCfg{})
			}
		})
		n := testnode.Start(t, testnode.Options{FS: fs, Sacks: 1, Workers: 1})
		got, without := createMetric(t, n, policy), createMetric(t, n, policy)
		all := createMetric(t, n, policy)
		for second := 0; second < 4*3600; second += 97 {
			m := map[int]float64{second: float64(second % 89)}
			post(t, n, got, m)
			post(t, n, all, m)
			if second < 3600 || second >= 3*3600 {
				post(t, n, without, m)
			}
			if second == 97*100 {
				checkpoint(t, n)
			}
		}
		mu.Lock()
		armed = true
		mu.Unlock()
		// The edges are those of minutes: start is on the minute.
		replace(t, n, got, 3600, 3*3600, nil)
		mu.Lock()
		armed = false
		mu.Unlock()
		requireSameButRates(t, n, got, without, false, granularities...)
		n.Stop(context.Background())
		last := crashed == nil
		if last { // after the deletion
			crashed = mem.CrashClone(vfs.CrashCloneCfg{})
		}
		n = testnode.Start(t, testnode.Options{FS: crashed, Sacks: 1, Workers: 1})
		if n.Read(got, minute).Len() == n.Read(all, minute).Len() {
			requireSame(t, n, got, all, granularities...)
			before++
		} else {
			requireSameButRates(t, n, got, without, false, granularities...)
			after++
		}
		n.Stop(context.Background())
		if last {
			break
		}
	}
	if before == 0 || after == 0 {
		t.Errorf("%d crashes before, %d after", before, after)
	}
}

// Reads beside deletions and corrections see the archive before or after each, at all granularities of one answer.
func TestReadsWhileMeasuresAreReplaced(t *testing.T) {
	ctx := context.Background()
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1, GroupBytes: 1 << 20})
	defer n.Stop(ctx)
	policy := newPolicy(t, "p", 0, []time.Duration{minute, time.Hour}, "sum", "count")
	id := createMetric(t, n, policy)
	const hour = 3600
	at := func(second int) carbonara.Timestamp {
		return (start + carbonara.Timestamp(second)*1e9).Floor(time.Hour)
	}
	send := func(value float64) *model.Replacement {
		r := &model.Replacement{From: at(hour), To: at(2 * hour)}
		for i := range 60 {
			r.Timestamps = append(r.Timestamps, r.From.Add(time.Duration(i)*minute))
			r.Values = append(r.Values, value)
		}
		return r
	}
	post(t, n, id, map[int]float64{0: 1})
	post(t, n, id, map[int]float64{3*hour + 60: 1})
	replaceAll := func(r *model.Replacement) {
		if _, err := n.Metricd.Replace(ctx, []uuid.UUID{id}, r); err != nil {
			t.Error(err)
		}
	}
	replaceAll(send(1))
	stop := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		defer close(stop)
		for i := range 200 {
			if i%3 == 0 {
				replaceAll(&model.Replacement{From: at(hour), To: at(2 * hour)})
			} else {
				replaceAll(send(float64(i)))
			}
		}
	})
	metric := metricsOf(t, n, id)[0]
	reads, seen := []model.Read{}, map[string]bool{}
	for _, g := range []time.Duration{minute, time.Hour} {
		reads = append(reads, model.Read{Metric: metric, Granularity: g, Columns: policy.Plan().Columns, From: at(hour),
			To: at(2 * hour)})
	}
	for done := false; !done; {
		select {
		case <-stop:
			done = true
		default:
		}
		var sums [2]float64
		var groups carbonara.Groups
		fatal.If(t, n.Metricd.EachGroups(ctx, reads, &groups, func(i int) error {
			for _, v := range groups.Column(carbonara.ColumnSum) {
				sums[i] += v
			}
			return nil
		}))
		if sums[0] != sums[1] || math.Mod(sums[0], 60) != 0 {
			t.Fatalf("minutes sum to %v, the hour to %v", sums[0], sums[1])
		}
		seen[fmt.Sprint(sums[0])] = true
	}
	all.Wait()
	if len(seen) < 3 {
		t.Errorf("reads saw %d states", len(seen))
	}
}

// Where a wide group was made of narrow ones that are older than the raw series, its first part follows a deletion, and
// later measures go on with it.
func TestTakenOutOfPartialGroups(t *testing.T) {
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1})
	defer n.Stop(context.Background())
	narrow := []time.Duration{minute}
	got := createMetric(t, n, newPolicy(t, "p", 0, narrow, "sum", "count", "max"))
	want := createMetric(t, n, newPolicy(t, "p", 0, narrow, "sum", "count", "max"))
	for i := range 100 {
		m := map[int]float64{i * 60: float64(i), i*60 + 30: float64(2 * i)}
		post(t, n, got, m)
		if i < 45 || i >= 50 {
			post(t, n, want, m)
		}
	}
	wide := []time.Duration{minute, 5 * minute, time.Hour}
	changePolicy(t, n, newPolicy(t, "p", 0, wide, "sum", "count", "max"))
	rebuild(t, n, got, want)
	if done := replace(t, n, got, 45*60, 50*60, nil); done.LostGroups > 0 {
		t.Fatalf("%+v", done)
	}
	requireSame(t, n, got, want, wide...)
	for _, id := range []uuid.UUID{got, want} {
		post(t, n, id, map[int]float64{5990: 3}) // in the hour that the partial group begins
		for i := 100; i < 130; i++ {
			post(t, n, id, map[int]float64{i*60 + 1: float64(i)})
		}
		post(t, n, id, map[int]float64{129*60 + 2: 7})
	}
	requireSame(t, n, got, want, wide...)
	if sums := values(t, n, got, time.Hour, carbonara.Sum); sums[2400] == 0 {
		t.Error(sums)
	}
}

// A wide group of which the range covers a part goes, and is named, where narrower groups have expired in part.
func TestExpiredGroupsTellNothing(t *testing.T) {
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1})
	defer n.Stop(context.Background())
	second, hour, day := time.Second, time.Hour, 24*time.Hour
	policy, err := model.NewArchivePolicy("p", 0, []model.DefinitionInput{{Granularity: &second, Timespan: &hour},
		{Granularity: &hour}, {Granularity: &day}}, []string{"sum"})
	fatal.If(t, err)
	id := createMetric(t, n, policy)
	for i := range 48 {
		post(t, n, id, map[int]float64{i * 3600: 1, i*3600 + 1200: 2, i*3600 + 1800: 4})
		checkpoint(t, n)
	}
	hours, days := values(t, n, id, hour, carbonara.Sum), values(t, n, id, day, carbonara.Sum)
	done := replace(t, n, id, 2400, 2*3600+1500, nil) // one hour and a part of the next
	gone, left := 0, 0
	for at, v := range values(t, n, id, hour, carbonara.Sum) {
		if v != hours[at] {
			t.Errorf("the hour at %d has %v, had %v", at, v, hours[at])
		}
		left++
	}
	if gone = len(hours) - left; gone != 2 || done.LostGroups != 1 {
		t.Errorf("%d hours went, %d groups are lost", gone, done.LostGroups)
	}
	total := 0.0
	for at, v := range values(t, n, id, day, carbonara.Sum) {
		total += days[at] - v
	}
	if total != 14 {
		t.Errorf("days have %v less", total)
	}
}
