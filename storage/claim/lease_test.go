package claim_test

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/storage/claim"
)

func TestDeadline(t *testing.T) {
	clock := new(stoppedClock)
	at := func(now time.Duration) { clock.now.Store(int64(now)) }
	lease := claim.NewDeadline(clock, 10*time.Second, 0)
	at(9 * time.Second)
	if !lease.Renew(4*time.Second) || lease.Remaining() != 5*time.Second || lease.Err() != nil {
		t.Errorf("renewed in time: %s, %v", lease.Remaining(), lease.Err())
	}
	at(14 * time.Second) // the deadline itself is too late
	if lease.Renew(13*time.Second) || lease.Valid() {
		t.Error("a renewal that returned late counted")
	}
	at(0)
	if lease.Valid() {
		t.Error("a lost lease came back")
	}
}

// A caller that finds a lease invalid also finds the reason.
func TestLostLeaseHasAnError(t *testing.T) {
	for range 200 {
		clock := new(stoppedClock)
		lease := claim.NewDeadline(clock, time.Second, 0)
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				for lease.Valid() {
					continue
				}
				if !errors.Is(lease.Err(), claim.ErrLost) {
					t.Errorf("lost without an error: %v", lease.Err())
				}
			})
		}
		clock.now.Store(int64(time.Minute))
		group.Wait()
	}
}

// A lease that waits at its deadline holds nothing up but changes, which go on once it is resumed, or fail once it is
// lost. It is not lost meanwhile.
func TestSuspendedLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := new(stoppedClock)
		at := func(now time.Duration) { clock.now.Store(int64(now)) }
		lease := claim.NewDeadline(clock, 10*time.Second, 0)
		lease.Wait()
		fs := claim.Fence(vfs.NewMem(), lease)
		change := func(name string) chan error {
			made := make(chan error, 1)
			go func() { made <- fs.MkdirAll(name, 0o750) }()
			return made
		}
		suspend := func(now time.Duration) {
			t.Helper()
			at(now)
			if lease.Valid() || !errors.Is(lease.Err(), claim.ErrSuspended) || errors.Is(lease.Err(), claim.ErrLost) {
				t.Errorf("at %s: %v", now, lease.Err())
			}
		}
		suspend(10 * time.Second)
		if lease.Renew(9 * time.Second) {
			t.Error("a renewal resumed it: others may have claimed")
		}
		waits := change("a")
		time.Sleep(time.Hour)
		select {
		case err := <-waits:
			t.Fatalf("changed without a lease: %v", err)
		case <-lease.Done():
			t.Fatal("it is lost")
		default:
		}
		if !lease.Resume(15*time.Second) || lease.Err() != nil || <-waits != nil {
			t.Errorf("resumed: %v", lease.Err())
		}
		suspend(25 * time.Second)
		waits = change("b")
		time.Sleep(time.Minute)
		lease.Lose(errors.New("claimed"))
		if err := <-waits; !errors.Is(err, claim.ErrLost) || lease.Resume(26*time.Second) || lease.Valid() {
			t.Errorf("lost: %v, then %v", err, lease.Err())
		}
	})
}
