package cores

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gnocco-db/gnocco/internal/pause"
)

const (
	// lookEvery is how often Pace looks whether one core is enough.
	lookEvery = time.Second
	// quietShare is the part of one core's time below which one is enough.
	quietShare = 0.2
	// busyShare is the part of one core's time from which on one is not enough.
	busyShare = 0.5
	// busyAfter is how long a request that comes to a process on one core looks back.
	busyAfter = 20 * time.Millisecond
)

// process is the state of this process.
var process struct {
	onOne  atomic.Bool // it runs on one core
	shared atomic.Bool // work was shared since Pace looked

	mu      sync.Mutex // guards what follows, and the change of onOne
	all     int        // cores, before it ran on one
	second  reading    // when Pace looked
	request reading    // when Begin looked
}

// reading is the time of all cores that the process had used by some moment.
type reading struct{ used, at time.Duration }

var started = time.Now()

// Pace lets the process run on one core while that is enough, until ctx ends.
func Pace(ctx context.Context) {
	go func() {
		defer takeAll()
		for {
			// At the same moment as others that wait for the next second.
			now := time.Now()
			if pause.For(ctx, now.Truncate(lookEvery).Add(lookEvery).Sub(now)) != nil {
				return
			}
			look()
		}
	}()
}

// look goes to one core, or back to all.
func look() {
	shared := process.shared.Swap(false)
	switch busy := share(&process.second, 0); {
	case busy >= busyShare:
		takeAll()
	case busy < quietShare && !shared && runtime.GOMAXPROCS(0) > 1:
		process.mu.Lock()
		defer process.mu.Unlock()
		process.all = runtime.GOMAXPROCS(1)
		process.onOne.Store(true)
	}
}

// Begin is told of each request. A process on one core goes back to all if that one is busy.
func Begin() {
	if process.onOne.Load() && share(&process.request, busyAfter) >= busyShare {
		takeAll()
	}
}

// Count returns how many cores the process runs on when there is work for them.
func Count() int {
	process.mu.Lock()
	defer process.mu.Unlock()
	if process.onOne.Load() {
		return process.all
	}
	return runtime.GOMAXPROCS(0)
}

// Share returns among how many goroutines work that only computes is best divided: n at most, and one for each core. If
// they are more than one, the process runs on all cores from then on.
func Share[N int | int64](n N) N {
	if n <= 1 {
		return n
	}
	if process.onOne.Load() {
		takeAll()
	}
	process.shared.Store(true)
	return min(n, N(runtime.GOMAXPROCS(0)))
}

// takeAll goes back to all cores.
func takeAll() {
	process.mu.Lock()
	defer process.mu.Unlock()
	if process.onOne.Load() {
		runtime.SetDefaultGOMAXPROCS()
		process.onOne.Store(false)
	}
}

// share returns which part of one core's time the process used since a reading, and reads anew; 0 if the reading is
// younger than least.
func share(last *reading, least time.Duration) float64 {
	process.mu.Lock()
	defer process.mu.Unlock()
	now := time.Since(started)
	var t unix.Timespec
	if now-last.at < least || unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t) != nil {
		return 0
	}
	before := *last
	*last = reading{used: time.Duration(t.Nano()), at: now}
	return float64(last.used-before.used) / float64(last.at-before.at)
}
