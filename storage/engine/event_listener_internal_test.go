package engine

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/cockroachdb/pebble/v2"
)

// A flush that an excise cuts short is no failure: Pebble begins it again.
func TestCancelledFlushIsNoFailure(t *testing.T) {
	w := &eventListener{logger: slog.New(slog.DiscardHandler), tell: func(err error) {
		t.Errorf("the store failed: %v", err)
	}}
	w.backgroundError(fmt.Errorf("flush: %w", pebble.ErrCancelledCompaction))
}
