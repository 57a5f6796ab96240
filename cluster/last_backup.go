package cluster

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
)

// lastBackup reads when the last backup ended that did not fail, while this process holds the index. Scrapes do not
// wait for it: the disk may hang.
type lastBackup struct {
	folder *datafolder.Folder
	logger *slog.Logger
	ended  atomic.Int64 // in seconds since 1970, 0 for none
	stop   context.CancelFunc
}

const backupInterval = time.Minute

func (l *lastBackup) start() {
	ctx, stop := context.WithCancel(context.Background())
	l.stop = stop
	go func() { // close does not wait for the disk either
		tick := time.NewTicker(backupInterval)
		defer tick.Stop()
		for ctx.Err() == nil {
			switch ended, err := l.folder.LastBackup(); {
			case err != nil:
				l.logger.Warn("the last backup is not known", "error", err)
			case !ended.IsZero():
				l.ended.Store(ended.Unix())
			}
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		}
	}()
}
