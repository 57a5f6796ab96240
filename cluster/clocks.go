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

// clocks bounds the differences between this machine's clock and those of other machines.
//
// The problem: records of several stores are ordered by stamps of the machines that accepted them. System time is of no
// use for stamps: operators and NTP set it, also backwards. And two machines' clocks differ, so the order of two stamps
// may be wrong.
//
// The first half is easy. The clock of a machine is the time since its start, which cannot be set, added to a moment
// that the data folder keeps. All processes of the machine share it, and their stamps can be compared exactly.
//
// For the second half the simple idea is to correct clocks: to measure each one's offset, and to subtract it. It fails
// because a measurement is a range, as wide as an exchange of two messages takes, and stamps of the past cannot be
// corrected any more. So clocks are not corrected but trusted less: each has an error, a bound on its difference from
// ours, and two stamps closer than the errors of their clocks have no certain order (package metricd/intake).
//
// The rule for the error of a clock:
//   - An exchange bounds the difference by its range. A slow exchange has a wide range, so that the best of
//     clockExchanges counts. A difference that is certain counts at once.
//   - Clocks drift, and stamps stay. So the error is the greatest of these bests, and never shrinks.
//   - Errors are stored in the data folder, for the next process and for other machines. A machine that has gone can no
//     longer be measured: its error is the least sum of stored distances over other clocks.
//   - A clock without any measurement has unmeasuredError.
//
// The invariants: a measured error never shrinks, not even by a restart; only errors of at most unmeasuredError are
// removed from the folder.
type clocks struct {
	own    incoming.Clock
	origin int64 // when own counts from, in nanoseconds since 1970
	folder *datafolder.Folder
	logger *slog.Logger

	mu          sync.Mutex
	measured    map[uuid.UUID]*measuredClock
	stored      map[datafolder.ClockPair]time.Duration // errors in the folder, as of the last read of it
	needsStored bool                                   // errorOf was asked for a clock that is not in measured
	usageMarked time.Time                              // when the folder was last told the clocks in use
}

// measuredClock is the error of a clock, and the exchanges since the error last changed.
type measuredClock struct {
	error     time.Duration // the greatest of the bests so far
	best      time.Duration // bound by the best of the current exchanges
	ahead     time.Duration // estimate by that exchange; negative: behind
	exchanges int           // since the last best
	warned    time.Duration // the difference in the last warning
}

const (
	// unmeasuredError is assumed of a clock without a measurement: its machine was gone before.
	unmeasuredError = 10 * time.Second
	// clockExchanges is the number of exchanges whose best counts.
	clockExchanges = 8
	// warnError is worth a warning.
	warnError = time.Second
	// usageInterval is how often a process tells the folder the clocks in use, first an hour after the start.
	usageInterval = 24 * time.Hour
	// forgottenAfter is how long a pair stays after the last use of its clocks. Machines get a new clock at each start.
	forgottenAfter = 30 * usageInterval
)

// newClocks returns the clocks of this process. With shift, for tests, it counts as a machine of its own with a clock
// that is ahead by shift.
func newClocks(folder *datafolder.Folder, bootID string, shift time.Duration, boot claim.Clock,
	logger *slog.Logger) (*clocks, error) {
	id, err := uuid.Parse(bootID)
	if err != nil {
		return nil, fmt.Errorf("cluster: boot ID %q: %w", bootID, err)
	}
	if shift != 0 {
		id = uuid.NewSHA1(id, []byte(shift.String()))
	}
	id, origin, err := folder.EnsureClock(id, time.Now().UnixNano()-int64(boot.Now())+int64(shift))
	if err != nil {
		return nil, fmt.Errorf("cluster: clock: %w", err)
	}
	stored, err := folder.ClockErrors()
	if err != nil {
		return nil, fmt.Errorf("cluster: clock: %w", err)
	}
	return &clocks{own: incoming.Clock{ID: id, Now: func() int64 { return origin + int64(boot.Now()) }}, origin: origin,
		folder: folder, logger: logger, measured: make(map[uuid.UUID]*measuredClock), stored: stored,
		usageMarked: time.Now().Add(time.Hour - usageInterval)}, nil
}

// Now implements peer.Clocks.
func (c *clocks) Now() int64 { return c.own.Now() }

func (c *clocks) Measured(address string, clock uuid.UUID, most, least int64) {
	if clock == c.own.ID || clock == uuid.Nil {
		return
	}
	bound := time.Duration(max(most, -most, least, -least))
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.measured[clock]
	if m == nil {
		m = &measuredClock{error: max(bound, c.storedError(clock)), best: math.MaxInt64}
		c.measured[clock] = m
	}
	// A clock that jumps keeps its identity. Exchanges before the jump must not hide it.
	m.error = max(m.error, time.Duration(max(least, -most)))
	if bound < m.best {
		m.best, m.ahead = bound, time.Duration(least+(most-least)/2)
	}
	if m.exchanges++; m.exchanges < clockExchanges {
		return
	}
	if m.best > warnError && m.best > 2*m.warned {
		m.warned = m.best
		c.logger.Warn("clocks of machines differ: raw measures are kept that much longer, until their order is certain; "+
			"set the wrong clock by NTP, and start its machine again",
			"other", address, "clock", clock, "ahead", m.ahead)
	}
	m.error, m.best, m.exchanges = max(m.error, m.best), math.MaxInt64, 0
}

// errorOf bounds the difference of a clock from this machine's: by this process's own measurement, or else by the
// least sum of distances over other clocks.
func (c *clocks) errorOf(clock uuid.UUID) time.Duration {
	if clock == c.own.ID {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.measured[clock]; m != nil {
		return m.error
	}
	c.needsStored = true
	far := c.distances()
	if d, ok := far[clock]; ok {
		return d
	}
	least, found := time.Duration(0), false
	for pair, d := range c.stored { // of clocks that no measurement connects with this one
		if (pair.By == clock || pair.Of == clock) && (!found || d < least) {
			least, found = d, true
		}
	}
	return least + unmeasuredError
}

// distances returns how far clocks are at most, over any number of others that lie between. mu is held.
func (c *clocks) distances() map[uuid.UUID]time.Duration {
	far := map[uuid.UUID]time.Duration{c.own.ID: 0}
	for clock, m := range c.measured {
		far[clock] = m.error
	}
	for shorter := true; shorter; {
		shorter = false
		for pair, d := range c.stored {
			for _, way := range [][2]uuid.UUID{{pair.By, pair.Of}, {pair.Of, pair.By}} {
				from, ok := far[way[0]]
				if to, known := far[way[1]]; ok && c.measured[way[1]] == nil && (!known || from+d < to) {
					far[way[1]], shorter = from+d, true
				}
			}
		}
	}
	return far
}

// storedError returns the stored error of this machine's clock and another one. mu is held.
func (c *clocks) storedError(clock uuid.UUID) time.Duration {
	return max(c.stored[datafolder.ClockPair{By: c.own.ID, Of: clock}],
		c.stored[datafolder.ClockPair{By: clock, Of: c.own.ID}])
}

// reconcile stores the errors that have grown, for later processes and other machines. It reads theirs if errorOf needs
// them.
func (c *clocks) reconcile() error {
	c.mu.Lock()
	needsStored, grown := c.needsStored, make(map[datafolder.ClockPair]time.Duration)
	c.needsStored = false
	for clock, m := range c.measured {
		if m.error > c.storedError(clock) {
			grown[datafolder.ClockPair{By: c.own.ID, Of: clock}] = m.error + m.error/8 // not for each nanosecond
		}
	}
	c.mu.Unlock()
	var errs []error
	for pair, bound := range grown {
		errs = append(errs, c.folder.KeepClockError(pair, bound))
	}
	errs = append(errs, c.markUsage())
	if !needsStored && len(grown) == 0 {
		return errors.Join(errs...)
	}
	stored, err := c.folder.ClockErrors()
	if err == nil {
		c.mu.Lock()
		c.stored = stored
		c.mu.Unlock()
	}
	if err := errors.Join(append(errs, err)...); err != nil {
		return fmt.Errorf("cluster: clocks: %w", err)
	}
	return nil
}

// markUsage tells the folder the clocks in use, and removes pairs of machines that are long gone, if their error is at
// most unmeasuredError. A later record with such a stamp is judged as one of an unknown clock, whose error is at least
// as large.
func (c *clocks) markUsage() error {
	c.mu.Lock()
	due := time.Since(c.usageMarked) >= usageInterval
	used := map[uuid.UUID]bool{c.own.ID: true}
	for clock := range c.measured {
		used[clock] = true
	}
	if due {
		c.usageMarked = time.Now()
	}
	c.mu.Unlock()
	if !due {
		return nil
	}
	return c.folder.TendClockErrors(func(clock uuid.UUID) bool { return used[clock] },
		time.Now().Add(-forgottenAfter), unmeasuredError)
}
