package archive

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Any part is taken or refused, never more.
func FuzzPutContent(f *testing.F) {
	store, err := Open("fuzzed", Options{FS: vfs.NewMem()})
	fatal.If(f, err)
	f.Cleanup(func() { _ = store.Close() })
	columns := []carbonara.Column{carbonara.ColumnCount, carbonara.ColumnSum}
	plan := carbonara.PlanOf([]time.Duration{time.Second}, columns)
	from, to := uuid.New(), uuid.New()
	c := store.NewCheckpoint()
	c.AppendRaw(from, 0, []carbonara.Timestamp{1e9, 2e9}, []float64{1, 2})
	c.AddLate(from, 3)
	fatal.If(f, c.Commit())
	content, err := store.Content(from, nil, 1<<20)
	if err != nil || content.Next != nil {
		f.Fatal(content, err)
	}
	f.Add(content.Part[1 : len(content.Part)-8])
	f.Fuzz(func(t *testing.T, entries []byte) {
		part := append([]byte{contentFormat}, entries...)
		part = binary.BigEndian.AppendUint64(part, xxhash.Sum64(part))
		c := store.NewCheckpoint()
		defer c.Close()
		written, err := c.PutContent(to, part, plan)
		if err != nil && written > 0 {
			t.Errorf("%d written with %v", written, err)
		}
	})
}
