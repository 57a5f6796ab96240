package cluster

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/incoming"
)

// clocks knows this machine's clock, and how far those of other machines are from it. The processes of a machine have
// one clock: the time since its start, which nobody sets, counted from a moment that the data folder keeps.
type clocks struct {
	own    incoming.Clock
	folder *datafolder.Folder
	logger *slog.Logger

	mu       sync.Mutex
	measured map[uuid.UUID]*measuredClock
	kept     map[datafolder.ClockPair]time.Duration // of the folder, as it was read last
	stale    bool                                   // a clock was asked for that this process has not measured
	tended   time.Time                              // when the folder was last told which clocks are in use
}

// measuredClock is how far a clock was found to be, at the most. An exchange that takes long measures badly, so the
// best of some counts.
type measuredClock struct {
	far    time.Duration // the greatest so far
	best   time.Duration // of the exchanges in hand
	ahead  time.Duration // by the best of them; negative: behind
	count  int
	warned time.Duration // the difference that a warning named last
}

const (
	// unmeasuredClock is assumed of a clock that nobody has measured: of a machine that was gone before.
	unmeasuredClock = 10 * time.Second
	// clockExchanges is of how many exchanges the best counts.
	clockExchanges = 8
	// farClock is worth a warning.
	farClock = time.Second
	// tendingInterval is how often the folder is told which clocks are in use, for the first time an hour after the
	// start.
	tendingInterval = 24 * time.Hour
	// forgottenAfter is how long a pair stays of which nobody has used a clock. Machines get a new clock at each start.
	forgottenAfter = 30 * tendingInterval
)

// newClocks returns the clocks as this process sees them. shift, for tests, makes its machine one of its own, whose
// clock is ahead.
func newClocks(folder *datafolder.Folder, bootID string, shift time.Duration, logger *slog.Logger) (*clocks, error) {
	id, err := uuid.Parse(bootID)
	if err != nil {
		return nil, fmt.Errorf("cluster: boot ID %q: %w", bootID, err)
	}
	if shift != 0 {
		id = uuid.NewSHA1(id, []byte(shift.String()))
	}
	boot := claim.BootClock{}
	id, origin, err := folder.EnsureClock(id, time.Now().UnixNano()-int64(boot.Now())+int64(shift))
	if err != nil {
		return nil, fmt.Errorf("cluster: clock: %w", err)
	}
	kept, err := folder.ClockErrors()
	if err != nil {
		return nil, fmt.Errorf("cluster: clock: %w", err)
	}
	return &clocks{own: incoming.Clock{ID: id, Now: func() int64 { return origin + int64(boot.Now()) }}, folder: folder,
		logger: logger, measured: make(map[uuid.UUID]*measuredClock), kept: kept,
		tended: time.Now().Add(time.Hour - tendingInterval)}, nil
}

// Now implements peer.Clocks.
func (c *clocks) Now() int64 { return c.own.Now() }

// Measured implements peer.Clocks.
func (c *clocks) Measured(address string, clock uuid.UUID, most, least int64) {
	if clock == c.own.ID || clock == uuid.Nil {
		return
	}
	far := time.Duration(max(most, -most, least, -least))
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.measured[clock]
	if m == nil {
		m = &measuredClock{far: max(far, c.keptOf(clock)), best: math.MaxInt64}
		c.measured[clock] = m
	}
	if far < m.best {
		m.best, m.ahead = far, time.Duration(least+(most-least)/2)
	}
	if m.count++; m.count < clockExchanges {
		return
	}
	if m.best > farClock && m.best > 2*m.warned {
		m.warned = m.best
		c.logger.Warn("clocks of machines differ: raw measures are kept that much longer, until their order is certain; "+
			"set the wrong clock by NTP, and start its machine again",
			"other", address, "clock", clock, "ahead", m.ahead)
	}
	m.far, m.best, m.count = max(m.far, m.best), math.MaxInt64, 0
}

// errorOf bounds how far a clock is from this machine's: by what this process has measured, else by what is kept of the
// clock and another one, on top of how far that is.
func (c *clocks) errorOf(clock uuid.UUID) time.Duration {
	if clock == c.own.ID {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.measured[clock]; m != nil {
		return m.far
	}
	c.stale = true
	far, found := time.Duration(0), false
	for pair, kept := range c.kept {
		other := pair.By
		if other == clock {
			other = pair.Of
		} else if pair.Of != clock {
			continue
		}
		if m := c.measured[other]; m != nil {
			kept += m.far
		} else if other != c.own.ID {
			kept += unmeasuredClock
		}
		if !found || kept < far {
			far, found = kept, true
		}
	}
	if !found {
		return unmeasuredClock
	}
	return far
}

// keptOf returns what is kept of this machine's clock and another one. mu is held.
func (c *clocks) keptOf(clock uuid.UUID) time.Duration {
	return max(c.kept[datafolder.ClockPair{By: c.own.ID, Of: clock}],
		c.kept[datafolder.ClockPair{By: clock, Of: c.own.ID}])
}

// reconcile keeps what this process has measured, for later ones and those of other machines, and reads what they have
// kept if it is needed.
func (c *clocks) reconcile() error {
	c.mu.Lock()
	stale, grown := c.stale, make(map[datafolder.ClockPair]time.Duration)
	c.stale = false
	for clock, m := range c.measured {
		if m.far > c.keptOf(clock) {
			grown[datafolder.ClockPair{By: c.own.ID, Of: clock}] = m.far + m.far/8 // not for each nanosecond
		}
	}
	c.mu.Unlock()
	var errs []error
	for pair, far := range grown {
		errs = append(errs, c.folder.KeepClockError(pair, far))
	}
	errs = append(errs, c.tend())
	if !stale && len(grown) == 0 {
		return errors.Join(errs...)
	}
	kept, err := c.folder.ClockErrors()
	if err == nil {
		c.mu.Lock()
		c.kept = kept
		c.mu.Unlock()
	}
	if err := errors.Join(append(errs, err)...); err != nil {
		return fmt.Errorf("cluster: clocks: %w", err)
	}
	return nil
}

// tend tells the folder which clocks are in use, so that pairs of machines that are long gone go. A record that has a
// stamp of such a clock after all meets a clock of which nothing is known: it counts as no less far than what was
// removed.
func (c *clocks) tend() error {
	c.mu.Lock()
	due := time.Since(c.tended) >= tendingInterval
	used := map[uuid.UUID]bool{c.own.ID: true}
	for clock := range c.measured {
		used[clock] = true
	}
	if due {
		c.tended = time.Now()
	}
	c.mu.Unlock()
	if !due {
		return nil
	}
	return c.folder.TendClockErrors(func(clock uuid.UUID) bool { return used[clock] },
		time.Now().Add(-forgottenAfter), unmeasuredClock)
}
