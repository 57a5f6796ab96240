package engine

import (
	"testing"

	"github.com/cockroachdb/pebble/v2"
)

// A store at rest is compacted in steps of some tables of its last level.
func TestStepEnd(t *testing.T) {
	table := func(last string, size uint64) pebble.SSTableInfo {
		var info pebble.SSTableInfo
		info.Largest.UserKey, info.Size = []byte(last), size
		return info
	}
	f := func(from, want string, tables ...pebble.SSTableInfo) {
		t.Helper()
		if got := string(stepEnd(tables, []byte(from))); got != want {
			t.Errorf("from %q to %q, want %q", from, got, want)
		}
	}
	f("\x00", string(lastKey))
	f("\x00", string(lastKey), table("b", stepBytes-1))
	f("\x00", "b", table("b", stepBytes), table("d", stepBytes))
	f("b\x00", "d", table("b", stepBytes), table("d", stepBytes))
	f("d\x00", string(lastKey), table("b", stepBytes), table("d", stepBytes))
	f("b\x00", "f", table("b", stepBytes), table("d", stepBytes/2), table("f", stepBytes/2), table("h", 1))
}
