package metrics

import (
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Behind 10,000 random IDs the last one of version 7 is not looked for: a start would read all that there are.
func TestLastMetricBehindRandomIDs(t *testing.T) {
	s := testTable(t, vfs.NewMem())
	now := time.Now()
	made := uuid.Must(uuid.NewV7())
	made[3] = 0
	put := func(id uuid.UUID) {
		fatal.If(t, s.log.DB.Set(keyspace.IDKey(keyspace.Metric, id), nil, pebble.NoSync))
	}
	put(made)
	put(uuid.UUID{}) // before it
	const most = 10_000
	for i := range most {
		id := made
		id[6], id[8] = id[6]&0x0f|0x40, 0x80 // version 4, in order behind
		id[14], id[15] = byte(i>>8), byte(i)
		id[3] = 1
		if i == most-1 {
			wantLast(t, s, now, made)
		}
		put(id)
	}
	wantLast(t, s, now, uuid.Max)
	fatal.If(t, s.log.DB.Close())
}

func wantLast(t *testing.T, s *Table, now time.Time, last uuid.UUID) {
	t.Helper()
	s.last.id = uuid.UUID{}
	if err := s.LoadLastMetric(now); err != nil || s.last.id != last {
		t.Errorf("the last is %s, %v; want %s", s.last.id, err, last)
	}
}
