package cluster

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/incoming"
)

// A process notices a jump of its clock before its next stamp, and ends if its clock is ahead of all others. One that
// stood still, or reaches no other, goes on.
func TestClockJump(t *testing.T) {
	at := func(ahead ...time.Duration) (found []clockDistance) {
		for _, d := range ahead {
			found = append(found, clockDistance{int64(d - time.Millisecond), int64(d + time.Millisecond)})
		}
		return found
	}
	f := func(what string, jump time.Duration, others []clockDistance, asked, ends bool) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			began, questions, lost := time.Now(), 0, error(nil)
			var offset atomic.Int64
			w := &clockWatch{now: func() int64 { return int64(time.Since(began)) + offset.Load() },
				lose: func(err error) { lost = err }, keep: func(int64) error { return nil },
				drop: func(int64) error { return nil },
				ask:  func(context.Context) []clockDistance { questions++; return others }}
			ctx, cancel := context.WithCancel(t.Context())
			go w.run(ctx)
			time.Sleep(5*time.Second + readInterval/2)
			if offset.Store(int64(jump)); questions > 0 {
				t.Errorf("%s: asked without a doubt", what)
			}
			err := w.check()
			if (questions > 0) != asked || (lost != nil) != ends || errors.Is(err, model.ErrUnavailable) != ends {
				t.Errorf("%s: %d questions, lost %v, refused %v", what, questions, lost, err)
			}
			cancel()
			synctest.Wait()
		})
	}
	f("no jump", 0, at(0), false, false)
	f("small jump", 300*time.Millisecond, at(-300*time.Millisecond), false, false)
	f("jump", 2*time.Second, at(-2*time.Second), true, true)
	f("jump, and another process's", 2*time.Second, at(-2*time.Second, 0), true, false)
	f("stood still", 2*time.Second, at(0, -time.Millisecond), true, false)
	f("alone", 2*time.Second, nil, true, false)
	f("others are far away", 2*time.Second, at(-time.Hour), true, false)
	f("another one is ahead", 2*time.Second, at(3*time.Second), true, false)
}

// Processes that start together do not reach each other at once, so the first stamp waits for a comparison. One that
// nobody answers keeps no measures away.
func TestFirstStampIsCompared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, lost := time.Now(), error(nil)
		var others []clockDistance
		now := func() int64 { return int64(time.Since(began)) }
		w := &clockWatch{now: now, last: now(), doubt: true, lose: func(err error) { lost = err },
			keep: func(int64) error { return nil }, drop: func(int64) error { return nil },
			ask: func(context.Context) []clockDistance { return others }}
		ctx, cancel := context.WithCancel(t.Context())
		go w.run(ctx)
		time.Sleep(compareInterval + readInterval/2)
		cancel()
		synctest.Wait()
		if others = []clockDistance{{-int64(time.Minute), -int64(time.Minute)}}; lost != nil {
			t.Fatal("it ends before another process answers")
		}
		if err := w.check(); !errors.Is(err, model.ErrUnavailable) || lost == nil {
			t.Errorf("a stamp a minute ahead is given: %v", err)
		}
		others, lost, w.doubt = nil, nil, true
		if err := w.check(); err != nil || lost != nil {
			t.Errorf("no stamp while nobody answers: %v", err)
		}
	})
}

// A process whose clock stays behind another one ends: the other would have, had its clock jumped.
func TestClockBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, lost := time.Now(), make(chan time.Duration, 100)
		w := &clockWatch{now: func() int64 { return int64(time.Since(began)) },
			lose: func(error) { lost <- time.Since(began) },
			ask: func(context.Context) []clockDistance {
				return []clockDistance{{int64(time.Second), int64(time.Second)}}
			}}
		go w.run(t.Context())
		if after := <-lost; after != 30*time.Second {
			t.Errorf("it ends after %v: stamps were late all the time", after)
		}
	})
}

// A reading is kept before the first stamp and then now and then, and a stamp is hardly later than the kept one.
func TestReadingIsKeptBeforeStamps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, kept, times, failure := time.Now(), int64(-1), 0, error(nil)
		now := func() int64 { return int64(time.Hour + time.Since(began)) }
		w := &clockWatch{now: now, last: now(), ask: func(context.Context) []clockDistance { return nil },
			keep: func(reading int64) error {
				if failure == nil {
					kept, times = reading, times+1
				}
				return failure
			}}
		for range 100 {
			if err := w.check(); err != nil || now()-kept >= int64(keepInterval) {
				t.Fatalf("a stamp is %v later than the kept reading: %v", time.Duration(now()-kept), err)
			}
			time.Sleep(keepInterval / 10)
		}
		if times != 10 {
			t.Errorf("readings were kept %d times", times)
		}
		failure = errors.New("disk")
		if err := w.check(); !errors.Is(err, model.ErrUnavailable) || !errors.Is(err, failure) {
			t.Errorf("a stamp is given without a kept reading: %v", err)
		}
	})
}

// While there are stamps, the next reading is kept before they need it: they do not wait for a slow disk. Without
// stamps nothing is written.
func TestReadingsAreKeptEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var kept, times, drops atomic.Int64
		began := time.Now()
		now := func() int64 { return int64(time.Hour + time.Since(began)) }
		w := &clockWatch{now: now, last: now(), ask: func(context.Context) []clockDistance { return nil },
			keep: func(reading int64) error {
				if times.Add(1) > 1 {
					time.Sleep(keepInterval/2 - 2*readInterval) // the disk
				}
				kept.Store(reading)
				return nil
			}, drop: func(before int64) error {
				if before != kept.Load() {
					t.Errorf("readings before %d are dropped, and %d is kept", before, kept.Load())
				}
				drops.Add(1)
				time.Sleep(3 * keepInterval) // a dead machine has seen them
				return nil
			}}
		ctx, cancel := context.WithCancel(t.Context())
		go w.run(ctx)
		for range 200 {
			asked := time.Now()
			if err := w.check(); err != nil || now()-kept.Load() >= int64(keepInterval) || time.Since(asked) > 0 {
				t.Fatalf("after %v a stamp waits %v, and is %v later than the kept reading: %v", time.Since(began),
					time.Since(asked), time.Duration(now()-kept.Load()), err)
			}
			time.Sleep(readInterval / 2)
		}
		time.Sleep(2 * keepInterval)
		before := times.Load()
		if time.Sleep(10 * keepInterval); times.Load() != before {
			t.Errorf("%d readings are kept without a stamp", times.Load()-before)
		}
		if drops.Load() < 2 {
			t.Errorf("earlier readings are dropped %d times", drops.Load())
		}
		cancel()
		synctest.Wait()
	})
}

// stoppedClock is a machine's that does not go on.
type stoppedClock struct{}

func (stoppedClock) Now() time.Duration { return time.Hour }

// A process sets its clock by the latest of others, and all processes of its machine by the same.
func TestAlignClock(t *testing.T) {
	open := clocksThatLog(t, stoppedClock{}, slog.New(slog.DiscardHandler))
	reference := open(0)
	align := func(c *clocks, distance time.Duration) time.Duration {
		t.Helper()
		asked := 0
		if err := c.align(stoppedClock{}, func(own incoming.Clock) []clockDistance {
			if asked++; asked > 1 {
				return nil // they have ended
			}
			d := reference.Now() + int64(distance) - own.Now()
			return []clockDistance{{d - 1e6, d + 1e6}, {d - 1e9, d - 1e9}}
		}); err != nil {
			t.Fatal(err)
		}
		return time.Duration(c.Now() - reference.Now())
	}
	first, second, third := open(0), open(0), open(0)
	if d := align(first, -3*time.Second); d != -3*time.Second || first.own.ID == reference.own.ID {
		t.Errorf("set back by 3 s, the clock is %v ahead", d)
	}
	if d := align(second, -3*time.Second); d != -3*time.Second || second.own.ID != first.own.ID {
		t.Errorf("the next process's clock is %v ahead, and another one", d)
	}
	if d := align(third, 300*time.Millisecond); d != 0 || third.own.ID != reference.own.ID {
		t.Errorf("a clock that is near is set: %v ahead", d)
	}
	if d := align(third, 2*time.Second); d != 2*time.Second || third.own.ID == first.own.ID {
		t.Errorf("a machine that is wrong a second time has a clock %v ahead", d)
	}
	for _, d := range []struct{ stamps, want time.Duration }{{-time.Hour, 0}, {maxApart / 2, 0},
		{time.Second, 2 * time.Second}, {2 * maxFollow, 2 * maxFollow}} { // 2 s: as it was set before
		alone := open(0)
		if err := errors.Join(alone.folder.KeepReading(reference.own.ID, reference.Now()+int64(d.stamps)),
			alone.align(stoppedClock{}, func(incoming.Clock) []clockDistance { return nil })); err != nil {
			t.Fatal(err)
		}
		if ahead := time.Duration(alone.Now() - reference.Now()); ahead != d.want {
			t.Errorf("stamps are %v ahead, and a clock that starts alone %v", d.stamps, ahead)
		}
	}
	after := open(0)
	after.measured[third.own.ID] = &measuredClock{error: time.Second}
	for clock, want := range map[uuid.UUID]time.Duration{reference.own.ID: 0, third.own.ID: time.Second,
		first.own.ID: 3 * time.Second} {
		if far := after.errorOf(clock); far != want {
			t.Errorf("the clock that was set is %v off, not %v", far, want)
		}
	}
}

// Jumps add up to more than anybody follows at once. A machine that was set each time starts at its last clock, from
// which it follows on.
func TestAlignClockOnceMore(t *testing.T) {
	open := clocksThatLog(t, stoppedClock{}, slog.New(slog.DiscardHandler))
	reference := open(0)
	for _, others := range []struct{ at, want time.Duration }{
		{8 * time.Minute, 8 * time.Minute}, {16 * time.Minute, 16 * time.Minute}, {20 * time.Minute, 20 * time.Minute},
		{31 * time.Minute, 20 * time.Minute}, {0, 0}, {-11 * time.Minute, 20 * time.Minute},
	} {
		c := open(0)
		if err := c.align(stoppedClock{}, func(own incoming.Clock) []clockDistance {
			d := reference.Now() + int64(others.at) - own.Now()
			return []clockDistance{{d, d}}
		}); err != nil {
			t.Fatal(err)
		}
		if ahead := time.Duration(c.Now() - reference.Now()); ahead != others.want {
			t.Errorf("others are %v ahead, and the clock %v, not %v", others.at, ahead, others.want)
		}
	}
}
