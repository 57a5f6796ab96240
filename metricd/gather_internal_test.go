package metricd

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gnocco-db/gnocco/metricd/intake"
)

// calmSource never has much.
type calmSource struct{ Source }

func (calmSource) Busy(int) <-chan struct{} { return nil }
func (calmSource) Last(int) uint64          { return 0 }

// The pauses of workers that began at different times end together, none later than it would alone.
func TestPausesEndTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ends := make(chan time.Time)
		for worker := range 5 {
			go func() {
				time.Sleep(time.Duration(worker) * 170 * time.Millisecond)
				var p intake.Pauses
				p.Ended(time.Now(), false)
				longest := 10 * time.Millisecond
				for range 20 {
					began := time.Now()
					if !(&feed{source: calmSource{}}).gather(context.Background(), &p, 0) {
						t.Error("the worker is to stop")
					}
					if paused := time.Since(began); paused <= 0 || paused > longest {
						t.Errorf("a pause of %v, at most %v", paused, longest)
					}
					longest = min(2*longest, intake.LongestPause)
				}
				ends <- time.Now()
			}()
		}
		first := <-ends
		for range 4 {
			if end := <-ends; end.Sub(first)%intake.LongestPause != 0 {
				t.Errorf("pauses end at %v and %v", first, end)
			}
		}
	})
}
