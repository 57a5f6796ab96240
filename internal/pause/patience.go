package pause

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrHangs is the error of a call that did not end in time.
var ErrHangs = errors.New("it does not answer in time")

// Hanging are calls that did not end in time, by name. The zero value has none.
type Hanging struct{ calls sync.Map }

// Patiently calls do, and returns ErrHangs if that takes longer than wait. The call goes on beside. As long as it does,
// Patiently returns ErrHangs at once for the same name, so that what hangs is asked once. hangs is called when a call
// begins to hang.
func Patiently[T any](ctx context.Context, h *Hanging, wait time.Duration, name string, do func() (T, error),
	hangs func()) (none T, err error) {
	if earlier, ok := h.calls.Load(name); ok {
		select {
		case <-earlier.(chan struct{}):
			h.calls.Delete(name)
		default:
			return none, ErrHangs
		}
	}
	var value T
	var failed error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		value, failed = do()
	}()
	select {
	case <-ended:
		return value, failed
	case <-ctx.Done():
		return none, ctx.Err()
	case <-time.After(wait):
		h.calls.Store(name, ended)
		hangs()
		return none, ErrHangs
	}
}
