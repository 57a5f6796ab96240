package pause

import (
	"context"
	"time"
)

// For waits so long and returns nil, or returns the context's error once that ends before. No time, or less, is over at
// once.
func For(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
