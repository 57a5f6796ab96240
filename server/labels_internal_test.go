package server

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// The labels of pushed series are read at the start, so that the first question waits for none.
func TestLabelsAreReadAtTheStart(t *testing.T) {
	store, err := index.Open("index", index.Options{FS: vfs.NewMem()})
	fatal.If(t, err)
	defer store.Close()
	for _, pushed := range []bool{false, true} {
		if pushed {
			fatal.If(t, store.CreateArchivePolicy(t.Context(), model.SeriesArchivePolicy()))
		}
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			begun := time.Now()
			keepLabels(ctx, func(_ context.Context, expected bool) error {
				stop()
				if after := time.Since(begun); after != 0 || expected != pushed {
					t.Errorf("labels are looked at after %v, expected: %v; pushed series: %v", after, expected, pushed)
				}
				return nil
			}, store)
		})
	}
}
