package backup

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/internal/pause"
)

// Last knows when the last backup of a data folder ended that did not fail, from Start to Stop. Its readers do not wait
// for the disk, which may hang.
type Last struct {
	Folder *datafolder.Folder
	Logger *slog.Logger

	ended atomic.Int64
	stop  context.CancelFunc
}

// lastInterval is how often the folder is looked at.
const lastInterval = time.Minute

// Start begins to look at the folder.
func (l *Last) Start() {
	ctx, stop := context.WithCancel(context.Background())
	l.stop = stop
	go func() { // Stop does not wait for the disk either
		for {
			switch ended, err := l.Folder.LastBackup(); {
			case err != nil:
				l.Logger.Warn("the last backup is not known", "error", err)
			case !ended.IsZero():
				l.ended.Store(ended.Unix())
			}
			if pause.For(ctx, lastInterval) != nil {
				return
			}
		}
	}()
}

// Stop ends the looks.
func (l *Last) Stop() { l.stop() }

// Ended returns when the last one ended, in seconds since 1970; 0 for none.
func (l *Last) Ended() int64 { return l.ended.Load() }
