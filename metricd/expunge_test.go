package metricd_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/metricd"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// heldByNobody is the index in an hour in which no process holds it.
type heldByNobody struct {
	metricd.Index
	asked int
}

func (i *heldByNobody) DeletedMetrics(context.Context, int) ([]uuid.UUID, error) {
	i.asked++
	return nil, model.ErrUnavailable
}

// Without the index deleted metrics wait, and nobody is told of it twice a minute, or that it is an error.
func TestExpungeWaitsForTheIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		missing := &heldByNobody{}
		w, err := testnode.Workers(metricd.Options{Sacks: 1, FS: vfs.NewMem(), Index: missing,
			Logger: slog.New(slog.NewTextHandler(&log, nil))}, "sacks", &listSource{ready: make(chan struct{}, 1)})
		fatal.If(t, err)
		time.Sleep(time.Hour)
		synctest.Wait()
		fatal.If(t, w.Close(context.Background()))
		// After 30 s, 1, 2 and 4 minutes, and then every 8.
		if lines := strings.Count(log.String(), "expunge failed"); missing.asked != 10 || lines != 10 ||
			strings.Contains(log.String(), "level=ERROR") {
			t.Errorf("asked %d times, %d lines:\n%s", missing.asked, lines, log.String())
		}
	})
}
