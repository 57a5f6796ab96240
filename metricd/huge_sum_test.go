package metricd_test

import (
	"math"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// The mean of measures whose sum no float64 holds is finite: pending, continued and checkpointed, with late measures,
// after a restart, and in groups that a rebuild makes of stored ones.
func TestMeansOfHugeSums(t *testing.T) {
	const huge = 1.7e308
	fs := vfs.NewMem()
	n := testnode.Start(t, testnode.Options{FS: fs, Sacks: 1, Workers: 1})
	id := createMetric(t, n, newPolicy(t, "p", 1, []time.Duration{minute, 10 * minute}, "mean", "sum", "std"))
	means := map[int]float64{}
	require := func(granularity time.Duration, want map[int]float64) {
		t.Helper()
		got := values(t, n, id, granularity, carbonara.Mean)
		if len(got) != len(want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		for at, v := range want {
			if math.Abs(got[at]-v) > 1e-15*math.Abs(v) {
				t.Fatalf("got %v, want %v", got, want)
			}
		}
	}
	for i := range 4 {
		post(t, n, id, map[int]float64{60 * i: huge, 60*i + 10: huge})
		means[0] = huge
		require(10*minute, means)
		if i%2 == 0 {
			checkpoint(t, n)
			require(10*minute, means)
		}
	}
	post(t, n, id, map[int]float64{600: 1, 660: 2, 720: 1e308, 730: 1.5e308, 740: 2e307})
	means[600] = 5.4e307
	require(10*minute, means)
	post(t, n, id, map[int]float64{630: -5e307, 640: 1e308}) // late
	checkpoint(t, n)
	means[600] = 3.2e307 / 7 * 10
	require(10*minute, means)
	requireValues(t, values(t, n, id, 10*minute, carbonara.Sum), map[int]float64{0: math.Inf(1), 600: math.Inf(1)})
	n.Stop(t.Context())
	n = testnode.Start(t, testnode.Options{FS: fs, Sacks: 1, Workers: 1})
	defer func() { n.Stop(t.Context()) }()
	require(10*minute, means)
	for i := range 6 {
		post(t, n, id, map[int]float64{12000 + i: huge})
	}
	checkpoint(t, n)
	means[12000] = huge
	require(10*minute, means)
	changePolicy(t, n, newPolicy(t, "p", 1, []time.Duration{minute, 10 * minute, 20 * minute}, "mean", "sum", "std"))
	rebuild(t, n, id)
	wide := map[int]float64{0: huge/15*8 + 3.2e307/15*10, 12000: huge}
	require(20*minute, wide)
	post(t, n, id, map[int]float64{12100: huge})
	require(20*minute, wide)
	checkpoint(t, n)
	require(20*minute, wide)
	require(10*minute, means)
}
