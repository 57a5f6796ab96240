package engine_test

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// BenchmarkRecorder measures synced commits on a file system in memory: the cost of the record of each.
func BenchmarkRecorder(b *testing.B) {
	for _, size := range []int{1 << 10, 64 << 10} {
		for _, recorded := range []bool{false, true} {
			b.Run(fmt.Sprintf("commit=%d/recorded=%v", size, recorded), func(b *testing.B) {
				var fs vfs.FS = vfs.NewMem()
				if recorded {
					fs = engine.NewRecorder(fs)
				}
				db, err := engine.Open("e1", engine.Options{FS: fs})
				fatal.If(b, err)
				defer db.Close()
				value := make([]byte, size)
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					fatal.If(b, db.Set([]byte("key"), value, pebble.Sync))
				}
			})
		}
	}
}
