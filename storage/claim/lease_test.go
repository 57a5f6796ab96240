package claim_test

import (
	"errors"
	"sync"
	"testing"
	"time"

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
