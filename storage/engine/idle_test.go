package engine_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// An idle store costs no CPU: its goroutines do not wake up from time to time.
func TestNoTicker(t *testing.T) {
	db, err := engine.Open("store", engine.Options{FS: vfs.NewMem()})
	fatal.If(t, err)
	defer db.Close()
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	if strings.Contains(string(stacks), "periodicGranter") {
		t.Error("Pebble's compaction scheduler has a ticker")
	}
}
