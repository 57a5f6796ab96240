package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/internal/pause"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/incoming"
)

// clockWatch keeps the clocks of all processes that accept measures close to one another: of two requests with equal
// timestamps at two processes, the later stamp counts.
//
// The problem: a virtual machine that moves to another host may find its clock ahead, below a running process. Its next
// stamps are too late by the jump, and an equal measure that is sent to another process afterwards loses.
//
// The simple idea is to follow the fastest clock, with each exchange of messages. It fails between the jump and the
// next exchange. So the process that jumped has to notice it by itself, before its next stamp.
//
// The rule: a process reads its clock every readInterval. A reading that is more than maxApart later than expected is a
// jump, or the process stood still. Then the next requests wait until the other processes have said what their clocks
// say. If this clock is ahead of all of them, the process ends, and the next one sets its clock by theirs (align).
// Smaller jumps are found by a comparison every compareInterval.
//
// A machine that starts while no other process answers has its system time alone, which may be wrong. So the data
// folder keeps a reading (keepOlderThan), and no clock begins earlier (align). The stamps of ended processes are
// unmeasured then, and count as unmeasuredError off. They are hardly later than the kept reading, so none of them is
// certainly later than a new one.
//
// The invariant: while processes that accept measures reach each other, and less than maxFollow is wrong, the stamps
// that two of them give at one moment differ by no more than maxApart.
type clockWatch struct {
	now  func() int64
	ask  func(ctx context.Context) []clockDistance
	keep func(reading int64) error // in the data folder
	drop func(before int64) error  // of the kept ones
	lose func(error)

	keeping sync.Mutex
	kept    atomic.Int64 // reading
	stamped atomic.Bool  // since then

	dropping sync.Mutex

	mu     sync.Mutex
	last   int64 // reading
	doubt  bool  // the clock may have jumped since it was compared
	behind int   // comparisons in a row that found another clock ahead
}

const (
	// maxApart is how far the clocks of two processes may be from each other.
	maxApart = 500 * time.Millisecond
	// maxFollow is how far a clock is set by others: they are wrong themselves, if they are further away.
	maxFollow       = 10 * time.Minute
	readInterval    = 250 * time.Millisecond
	compareInterval = 10 * time.Second
	compareTimeout  = time.Second
	// keepInterval is how much later than the kept reading a stamp may be. A clock that starts at this reading is no
	// further behind the stamp than one that is unknown may be off.
	keepInterval = unmeasuredError / 2
	// maxBehind comparisons give the other process time to find out that its clock has jumped.
	maxBehind = 3
)

// clockDistance is how far another clock is ahead, at least and at most.
type clockDistance struct{ least, most int64 }

func (d clockDistance) estimate() time.Duration { return time.Duration(d.least + (d.most-d.least)/2) }

// compare returns how far the latest of other clocks is ahead, negative: behind; 0 if that is little or not sure, or if
// it is so much that nobody follows.
func compare(others []clockDistance) time.Duration {
	if off := ahead(others, 0); off.Abs() <= maxFollow {
		return off
	}
	return 0
}

// ahead returns how far the latest of other clocks is ahead once this one is moved forward; 0 if that is little or not
// sure.
func ahead(others []clockDistance, moved int64) time.Duration {
	if len(others) == 0 {
		return 0
	}
	latest := slices.MaxFunc(others, func(a, b clockDistance) int { return cmp.Compare(a.least, b.least) })
	latest.least, latest.most = latest.least-moved, latest.most-moved
	if latest.least <= int64(maxApart) && latest.most >= -int64(maxApart) {
		return 0
	}
	return latest.estimate()
}

// clockDistances asks the other processes that accept measures what their clocks say. Those that do not answer are left
// out, and so are those with this machine's clock: they jump together.
func (m *membership) clockDistances(ctx context.Context, own incoming.Clock) (found []clockDistance) {
	var mu sync.Mutex
	_ = m.askOthers(ctx, compareTimeout, hasRole(RoleAPI), func(ctx context.Context, other *claim.Member) {
		began := own.Now()
		reading, err := m.client.Clock(ctx, other.Address, own.ID)
		ended := own.Now()
		if err == nil {
			mu.Lock()
			defer mu.Unlock()
			found = append(found, clockDistance{reading - ended, reading - began})
		}
	}) // members that cannot be read do not answer
	return found
}

// align sets the clock by those of other processes before the first stamp, if it is far from the latest of them. If no
// other one answers, the clock is set to be no earlier than the latest reading that the folder keeps: all may have
// ended, and the system time of a machine that starts may be wrong. The machine's clock has another identity then, and
// all processes of the machine derive the same one. Earlier alignments come first, and each is of another time. So the
// others, which may end meanwhile, are asked once. Jumps add up: the others may be far from the machine's system time,
// and near the clock that it had last.
func (c *clocks) align(boot claim.Clock, ask func(own incoming.Clock) []clockDistance) error {
	others, by, began, kept := ask(c.own), "the latest of the others'", c.origin, int64(0)
	if len(others) == 0 {
		by = "the latest stamps in the data folder, and no other process answers"
		var err error
		if kept, err = c.folder.LatestReading(); err != nil {
			return fmt.Errorf("cluster: clock: %w", err)
		}
	}
	wrong := func() time.Duration {
		if len(others) == 0 {
			return max(0, time.Duration(kept-c.Now()))
		}
		return ahead(others, c.origin-began)
	}
	for off := wrong(); off.Abs() > maxApart/2; off = wrong() {
		id, origin, err := c.folder.Clock(uuid.NewSHA1(c.own.ID, []byte("aligned")))
		if errors.Is(err, fs.ErrNotExist) {
			if len(others) > 0 && off.Abs() > maxFollow {
				break
			}
			id, origin, err = c.folder.EnsureClock(id, c.origin+int64(off))
		}
		if err != nil {
			return fmt.Errorf("cluster: clock: %w", err)
		}
		pair := datafolder.ClockPair{By: id, Of: c.own.ID} // for stamps of the other one
		if err := c.folder.KeepClockError(pair, time.Duration(origin-c.origin).Abs()); err != nil {
			return fmt.Errorf("cluster: clock: %w", err)
		}
		c.own.ID, c.own.Now = id, func() int64 { return origin + int64(boot.Now()) }
		c.origin = origin
	}
	if c.origin != began {
		c.logger.Warn("the clock of this machine is wrong, and is set", "ahead", time.Duration(began-c.origin), "by", by,
			"clock", c.own.ID)
	}
	return nil
}

// run reads and compares the clock until ctx ends. While there are stamps, it has readings kept early, so that stamps
// wait for the disk only if it takes longer than half of keepInterval.
func (w *clockWatch) run(ctx context.Context) {
	var early sync.WaitGroup
	defer early.Wait()
	n := 0
	for range pause.Ticks(ctx, readInterval) {
		n++
		if jumped, _ := w.read(); jumped || n%int(compareInterval/readInterval) == 0 {
			_ = w.compare(ctx)
		}
		if w.stamped.Load() && w.isOld(keepInterval/2) && w.keeping.TryLock() {
			early.Go(func() {
				_ = w.keepOlderThan(keepInterval / 2) // the next stamp tries again, and fails with the error
				w.keeping.Unlock()
				if w.dropping.TryLock() {
					_ = w.drop(w.kept.Load()) // so does the next one
					w.dropping.Unlock()
				}
			})
		}
	}
}

// read reports whether the clock may have jumped since it was read, and whether that is so since it was compared.
func (w *clockWatch) read() (jumped, doubt bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	jumped = now-w.last > int64(readInterval+maxApart)
	w.last, w.doubt = now, w.doubt || jumped
	return jumped, w.doubt
}

// check implements incoming.Clock.
func (w *clockWatch) check() error {
	if _, doubt := w.read(); doubt {
		err := w.compare(context.Background())
		w.mu.Lock()
		w.doubt = false // also if nobody answered: measures are accepted
		w.mu.Unlock()
		if err != nil {
			return err
		}
	}
	w.stamped.Store(true)
	if !w.isOld(keepInterval) {
		return nil
	}
	w.keeping.Lock()
	defer w.keeping.Unlock()
	return w.keepOlderThan(keepInterval)
}

func (w *clockWatch) isOld(age time.Duration) bool { return w.now()-w.kept.Load() >= int64(age) }

// keepOlderThan makes the folder keep a reading, if the kept one has an age. The caller has locked keeping.
func (w *clockWatch) keepOlderThan(age time.Duration) error {
	if !w.isOld(age) {
		return nil
	}
	w.stamped.Store(false)
	now := w.now()
	if err := w.keep(now); err != nil {
		return fmt.Errorf("%w: the clock's reading is not kept: %w", model.ErrUnavailable, err)
	}
	w.kept.Store(now)
	return nil
}

// compare ends the process if its clock is ahead of all others, or has been behind another one for long. While nobody
// answers, a doubt stays for the next stamp: processes that start together do not listen yet.
func (w *clockWatch) compare(ctx context.Context) error {
	others := w.ask(ctx)
	off := compare(others)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.doubt = w.doubt && len(others) == 0
	if off <= 0 {
		w.behind = 0
	} else {
		w.behind++
	}
	if off == 0 || off > 0 && w.behind < maxBehind {
		return nil
	}
	err := fmt.Errorf("a clock has jumped, or was wrong from the start: the latest one of the other processes differs by %v "+
		"from this machine's. The next process sets its own by theirs", off)
	w.lose(err)
	return fmt.Errorf("%w: %w", model.ErrUnavailable, err)
}
