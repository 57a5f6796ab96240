package cluster

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// clocksOfOneFolder returns a function that opens clocks of one data folder, shifted so that they seem another
// machine's.
func clocksOfOneFolder(t *testing.T) func(shift time.Duration) *clocks {
	t.Helper()
	return clocksThatLog(t, claim.BootClock{}, slog.New(slog.DiscardHandler))
}

func clocksThatLog(t *testing.T, boot claim.Clock, logger *slog.Logger) func(shift time.Duration) *clocks {
	t.Helper()
	folder, err := datafolder.Share(t.TempDir())
	fatal.If(t, err)
	t.Cleanup(func() { folder.Release() })
	return func(shift time.Duration) *clocks {
		t.Helper()
		c, err := newClocks(folder, "11111111-2222-3333-4444-555555555555", shift, boot, logger)
		fatal.If(t, err)
		return c
	}
}

// The processes of a machine share one clock, whenever they start. The best of some exchanges says how far another
// machine's clock is. That distance never shrinks.
func TestClocks(t *testing.T) {
	open := clocksOfOneFolder(t)
	first, other := open(0), open(time.Hour)
	time.Sleep(time.Millisecond)
	second := open(0)
	before, between, after := first.Now(), second.Now(), first.Now()
	if first.own.ID != second.own.ID || before > between || between > after {
		t.Errorf("two processes of a machine: %d, %d, %d", before, between, after)
	}
	if first.own.ID == other.own.ID || other.Now()-first.Now() < int64(time.Hour-time.Minute) {
		t.Errorf("a shifted clock is %v ahead", time.Duration(other.Now()-first.Now()))
	}

	if e := first.errorOf(second.own.ID); e != 0 {
		t.Errorf("its own clock is %v off", e)
	}
	clock := other.own.ID
	if e := first.errorOf(clock); e != unmeasuredError {
		t.Errorf("a clock never seen is %v off", e)
	}
	measure := func(n int, most, least time.Duration) {
		for range n {
			first.Measured("peer:1", clock, int64(most), int64(least))
		}
	}
	want := func(e time.Duration) {
		t.Helper()
		if got := first.errorOf(clock); got != e {
			t.Errorf("%v off, want %v", got, e)
		}
	}
	measure(1, 3*time.Second, -time.Second)
	want(3 * time.Second)
	measure(2*clockExchanges-1, 20*time.Millisecond, -50*time.Millisecond)
	want(3 * time.Second)
	measure(clockExchanges-1, 8*time.Second, time.Second)
	measure(1, time.Second, 0)
	want(3 * time.Second)
	measure(1, 8*time.Second, 7*time.Second) // it has jumped
	want(7 * time.Second)
	measure(clockExchanges-1, 8*time.Second, 7*time.Second)
	want(8 * time.Second)
	first.Measured("peer:1", uuid.Nil, 0, 0)
	if e := first.errorOf(uuid.Nil); e != unmeasuredError {
		t.Errorf("an unknown clock is %v off", e)
	}
}

// A clock that is far off is warned of, also one that was so from the start, and again once it is twice as far. Slow
// exchanges are no reason.
func TestFarClockIsWarnedOf(t *testing.T) {
	var log bytes.Buffer
	c, clock := clocksThatLog(t, claim.BootClock{}, slog.New(slog.NewTextHandler(&log, nil)))(0), uuid.New()
	measure := func(n int, most, least time.Duration, want ...string) {
		t.Helper()
		log.Reset()
		for range n {
			c.Measured("peer:1", clock, int64(most), int64(least))
		}
		warnings := min(len(want), 1)
		if strings.Count(log.String(), "level=WARN") != warnings {
			t.Fatalf("want %d warnings: %s", warnings, log.String())
		}
		for _, part := range append(want, "other=peer:1", clock.String())[:len(want)+2*warnings] {
			if !strings.Contains(log.String(), part) {
				t.Errorf("no %q in %s", part, log.String())
			}
		}
	}
	hour := time.Hour
	measure(clockExchanges, -hour+2*time.Millisecond, -hour-2*time.Millisecond, "ahead=-1h0m0s")
	measure(10*clockExchanges, -hour, -hour)
	measure(clockExchanges, 2*hour, 2*hour)
	measure(clockExchanges, 3*hour, 3*hour, "ahead=3h0m0s")
	measure(clockExchanges, hour, hour)

	clock = uuid.New()
	measure(clockExchanges-1, 5*time.Second, -5*time.Second)
	measure(1, warnError, 0)
	measure(clockExchanges, 5*time.Second, warnError-time.Millisecond, "ahead=")
}

// A measured clock error survives a restart. Processes of other machines know it as well, plus the distance of their
// clock from the measuring process's clock.
func TestClockErrorsSurvive(t *testing.T) {
	open := clocksOfOneFolder(t)
	reconcile := func(c *clocks) {
		t.Helper()
		fatal.If(t, c.reconcile())
	}
	want := func(c *clocks, clock uuid.UUID, e time.Duration) {
		t.Helper()
		if got := c.errorOf(clock); got != e {
			t.Errorf("%v off, want %v", got, e)
		}
	}
	first, second, gone := open(0), open(time.Second), uuid.New()
	first.Measured("peer:1", gone, int64(16*time.Second), 0)
	want(second, gone, unmeasuredError)
	reconcile(first)
	reconcile(second) // it was asked for a clock that it does not know
	want(second, gone, 18*time.Second+unmeasuredError)
	second.Measured("peer:1", first.own.ID, int64(time.Second), 0)
	want(second, gone, 19*time.Second)

	again := open(0) // a restart
	want(again, gone, 18*time.Second)
	again.Measured("peer:1", gone, int64(time.Millisecond), 0)
	want(again, gone, 18*time.Second)
}

// A process marks the pairs of its clock once a day. Pairs of machines that are long gone are forgotten, and their
// clocks count as unknown.
func TestClocksOfGoneMachinesAreForgotten(t *testing.T) {
	open := clocksOfOneFolder(t)
	c, gone, other := open(0), uuid.New(), uuid.New()
	c.Measured("peer:1", gone, int64(2*time.Second), 0)
	fatal.If(t, c.folder.KeepClockError(datafolder.ClockPair{By: gone, Of: other}, time.Second))
	age := func() {
		t.Helper()
		names, err := filepath.Glob(filepath.Join(c.folder.Path, "clocks", "*.*.*"))
		if err != nil || len(names) == 0 {
			t.Fatal(names, err)
		}
		for _, name := range names {
			fatal.If(t, os.Chtimes(name, time.Time{}, time.Now().Add(-2*forgottenAfter)))
		}
	}
	reconcile := func(c *clocks, pairs int) {
		t.Helper()
		fatal.If(t, c.reconcile())
		if kept, err := c.folder.ClockErrors(); err != nil || len(kept) != pairs {
			t.Errorf("%d pairs are kept, want %d: %v", len(kept), pairs, err)
		}
	}
	reconcile(c, 2)
	age()
	reconcile(c, 2) // not yet
	c.usageMarked = c.usageMarked.Add(-usageInterval)
	reconcile(c, 2) // both have a clock that this process has measured
	again := open(0)
	again.usageMarked = again.usageMarked.Add(-usageInterval)
	age()
	reconcile(again, 1) // its own stays
	if far := open(0).errorOf(other); far != unmeasuredError {
		t.Errorf("a clock of which nothing is known is %v off", far)
	}
	if far := open(0).errorOf(gone); far < 2*time.Second {
		t.Errorf("a clock that was measured is %v off", far)
	}
}

// The least kept error counts for a clock that no process here has measured.
func TestLeastKeptClockErrorCounts(t *testing.T) {
	unknown := uuid.UUID{1}
	c := &clocks{own: incoming.Clock{ID: uuid.UUID{2}}, stored: make(map[datafolder.ClockPair]time.Duration)}
	for i := range 30 {
		c.stored[datafolder.ClockPair{By: uuid.UUID{3, byte(i)}, Of: unknown}] = time.Duration(30-i) * time.Second
	}
	for range 10 {
		if got, want := c.errorOf(unknown), time.Second+unmeasuredError; got != want {
			t.Fatalf("an unmeasured clock is %v off, want %v", got, want)
		}
	}
}

// Distances add up over clocks between, by the shortest way.
func TestClockErrorsAddUp(t *testing.T) {
	ids := [6]uuid.UUID{{1}, {2}, {3}, {4}, {5}, {6}}
	c := &clocks{own: incoming.Clock{ID: ids[0]}, measured: map[uuid.UUID]*measuredClock{ids[1]: {error: time.Second}},
		stored: map[datafolder.ClockPair]time.Duration{
			{By: ids[1], Of: ids[2]}: 20 * time.Second,
			{By: ids[3], Of: ids[2]}: 30 * time.Second,
			{By: ids[1], Of: ids[3]}: 90 * time.Second,
			{By: ids[4], Of: ids[5]}: time.Second, // of no clock that is known
			{By: ids[0], Of: ids[1]}: time.Millisecond,
		}}
	for i, want := range []time.Duration{0, time.Second, 21 * time.Second, 51 * time.Second,
		time.Second + unmeasuredError, time.Second + unmeasuredError} {
		if far := c.errorOf(ids[i]); far != want {
			t.Errorf("clock %d is %v off, want %v", i, far, want)
		}
	}
}

// A clock is as far as the shortest way over any number of others, which may be looked at in any order.
func TestClockErrorsAddUpOverMany(t *testing.T) {
	const clocksBetween = 40
	own := uuid.UUID{1}
	for range 5 {
		c := &clocks{own: incoming.Clock{ID: own}, stored: make(map[datafolder.ClockPair]time.Duration)}
		last := own
		for i := range clocksBetween {
			next := uuid.New()
			c.stored[datafolder.ClockPair{By: next, Of: last}] = time.Second
			c.stored[datafolder.ClockPair{By: own, Of: next}] = time.Duration(2*i+3) * time.Second // a longer way
			last = next
		}
		if far := c.errorOf(last); far != clocksBetween*time.Second {
			t.Fatalf("the last of %d clocks is %v off", clocksBetween, far)
		}
	}
}
