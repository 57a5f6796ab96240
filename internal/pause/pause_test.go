package pause_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gnocco-db/gnocco/internal/pause"
)

func TestFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := func(ends, d, want time.Duration, wantErr error) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), ends)
			defer cancel()
			started := time.Now()
			if err := pause.For(ctx, d); !errors.Is(err, wantErr) || time.Since(started) != want {
				t.Errorf("a pause of %v in a context of %v: %v after %v, want %v after %v", d, ends, err,
					time.Since(started), wantErr, want)
			}
		}
		f(time.Hour, time.Minute, time.Minute, nil)
		f(time.Second, time.Minute, time.Second, context.DeadlineExceeded)
		f(time.Second, 0, 0, nil)
		f(time.Second, -time.Minute, 0, nil)
		f(-time.Second, time.Minute, 0, context.DeadlineExceeded)
		f(-time.Second, 0, 0, context.DeadlineExceeded)
	})
}

func TestTicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		started := time.Now()
		var seen []time.Duration
		for now := range pause.Ticks(ctx, time.Second) {
			if seen = append(seen, now.Sub(started)); len(seen) == 1 {
				time.Sleep(1500 * time.Millisecond) // the second tick waits, and comes at once
			}
			if len(seen) == 3 {
				cancel()
			}
		}
		if want := []time.Duration{time.Second, 2 * time.Second, 3 * time.Second}; !slices.Equal(seen, want) {
			t.Errorf("ticks at %v, want %v", seen, want)
		}
		for range pause.Ticks(t.Context(), time.Second) {
			return // the synctest bubble sees a goroutine that stays behind
		}
	})
}
