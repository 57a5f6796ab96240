package pause_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gnocco-db/gnocco/internal/pause"
)

var errOwn = errors.New("of the call")

// A call that hangs is waited for once, and begun once; others go on beside it.
func TestPatiently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h pause.Hanging
		var calls atomic.Int32 // one that hangs is begun beside others
		hung := 0
		call := func(ctx context.Context, name string, takes time.Duration, want int, wantErr error,
			after time.Duration) {
			t.Helper()
			began := time.Now()
			got, err := pause.Patiently(ctx, &h, time.Second, name, func() (int, error) {
				calls.Add(1)
				time.Sleep(takes)
				return 7, errOwn
			}, func() { hung++ })
			if got != want || !errors.Is(err, wantErr) || time.Since(began) != after {
				t.Errorf("a call of %s: %d, %v after %s", takes, got, err, time.Since(began))
			}
		}
		call(t.Context(), "a", 500*time.Millisecond, 7, errOwn, 500*time.Millisecond)
		call(t.Context(), "a", 10*time.Second, 0, pause.ErrHangs, time.Second)
		call(t.Context(), "a", 0, 0, pause.ErrHangs, 0)
		call(t.Context(), "b", 0, 7, errOwn, 0)
		ended, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		call(ended, "c", 2*time.Second, 0, context.DeadlineExceeded, 100*time.Millisecond)
		call(t.Context(), "c", 0, 7, errOwn, 0) // an impatient caller says nothing of the call
		time.Sleep(10 * time.Second)
		call(t.Context(), "a", 0, 7, errOwn, 0)
		if calls.Load() != 6 || hung != 1 {
			t.Errorf("%d calls, %d that hang", calls.Load(), hung)
		}
	})
}
