package cores_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/internal/cores"
)

// A process goes to one core while it does little, and back to all of them when work is shared, when a request comes
// while it is busy, and at the end.
func TestPace(t *testing.T) {
	all := runtime.GOMAXPROCS(0)
	if all == 1 {
		t.Skip("one core")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cores.Pace(ctx)
	await := func(want int, meanwhile func()) {
		t.Helper()
		for began := time.Now(); runtime.GOMAXPROCS(0) != want; meanwhile() {
			if time.Since(began) > 2*time.Minute {
				t.Fatalf("%d cores, want %d", runtime.GOMAXPROCS(0), want)
			}
		}
	}
	idle := func() { time.Sleep(10 * time.Millisecond) }

	await(1, idle)
	if got := cores.Share(1); got != 1 || runtime.GOMAXPROCS(0) != 1 {
		t.Errorf("work for one: %d on %d", got, runtime.GOMAXPROCS(0))
	}
	if got := cores.Count(); got != all {
		t.Errorf("%d cores, want %d", got, all)
	}
	if got := cores.Share(all + 1); got != all || runtime.GOMAXPROCS(0) != all {
		t.Errorf("work for many: %d on %d, want %d", got, runtime.GOMAXPROCS(0), all)
	}

	await(1, idle)
	cores.Begin()
	await(all, func() {
		for began := time.Now(); time.Since(began) < time.Millisecond; {
		}
		cores.Begin()
	})

	await(1, idle)
	cancel()
	await(all, idle)
	if got := cores.Count(); got != all {
		t.Errorf("%d cores in the end, want %d", got, all)
	}
}
