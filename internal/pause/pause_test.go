package pause_test

import (
	"context"
	"errors"
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
