package cluster

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// A snapshot answers if its last checkpoint is no older than the client allows, and the answer tells the age. One of a
// clock that is ahead of ours is as new as one of now.
func TestStaleReadsKeepToTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := func(age, limit time.Duration, answers bool, told time.Duration) {
			t.Helper()
			s := &stale{snapshots: map[int]*snapshot{3: {asOf: time.Now().Add(-age)}}}
			staleness, read := query.Staleness{Limit: limit}, false
			err := s.read(3, &staleness, func(*archive.Store) error { read = true; return nil })
			if read != answers || (err == nil) != answers || err != nil && !errors.Is(err, model.ErrUnavailable) {
				t.Errorf("%v old, %v allowed: read is %v, %v", age, limit, read, err)
			}
			if used := staleness.Age(); used != told {
				t.Errorf("%v old, %v allowed: the client is told %v", age, limit, used)
			}
			s.snapshots[3].users.Wait()
		}
		f(0, time.Minute, true, 1)
		f(time.Minute, time.Minute, true, time.Minute)
		f(time.Minute+1, time.Minute, false, 0)
		f(time.Hour, time.Minute, false, 0)
		f(time.Hour, 2*time.Hour, true, time.Hour)
		f(-time.Minute, time.Second, true, 1)
	})
}
