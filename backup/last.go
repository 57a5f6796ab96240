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

	ended, followed atomic.Int64
	stop            context.CancelFunc
}

// How often the folder is looked at, for backups and for followers.
const (
	lastInterval     = time.Minute
	followedInterval = 10 * time.Second
)

// Start begins to look at the folder.
func (l *Last) Start() {
	ctx, stop := context.WithCancel(context.Background())
	l.stop = stop
	go func() { // Stop does not wait for the disk either
		for i := 0; ; i++ {
			var ended time.Time
			followed, err := FollowedTo(l.Folder)
			if i%int(lastInterval/followedInterval) == 0 {
				if err == nil {
					ended, err = LastEnded(l.Folder)
				}
				if err != nil {
					l.Logger.Warn("the last backup is not known", "error", err)
				}
			}
			if !ended.IsZero() {
				l.ended.Store(ended.Unix())
			}
			if !followed.IsZero() {
				l.followed.Store(followed.Unix())
			}
			if pause.For(ctx, followedInterval) != nil {
				return
			}
		}
	}()
}

// Stop ends the looks.
func (l *Last) Stop() { l.stop() }

// Ended returns when the last one ended, in seconds since 1970; 0 for none.
func (l *Last) Ended() int64 { return l.ended.Load() }

// Followed returns up to when all that was acknowledged is in each copy that follows the folder, in seconds since 1970;
// 0 if none does.
func (l *Last) Followed() int64 { return l.followed.Load() }
