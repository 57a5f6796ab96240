package backup

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A backup is known a minute after its end. One that failed, and a process without the index, change nothing.
func TestLastBackup(t *testing.T) {
	folder := &datafolder.Folder{Path: t.TempDir()}
	synctest.Test(t, func(t *testing.T) {
		l := &Last{Folder: folder, Logger: slog.New(slog.DiscardHandler)}
		l.Start()
		began := time.Now()
		record := func(ended time.Duration, fault string, want int64) {
			t.Helper()
			b := model.Backup{Begun: time.Now(), Ended: began.Add(ended), Error: fault}
			fatal.If(t, Record(folder, &b))
			time.Sleep(lastInterval)
			synctest.Wait()
			if got := l.Ended(); got != want {
				t.Errorf("the last backup ended at %d, want %d", got, want)
			}
		}
		record(time.Second, "it failed", 0)
		record(time.Second, "", began.Unix()+1)
		record(time.Hour, "", began.Unix()+3600)
		record(2*time.Hour, "it failed", began.Unix()+3600)
		l.Stop()
		record(3*time.Hour, "", began.Unix()+3600)
	})
}
