package incoming_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A store that is drained keeps old logs to write over them. Each has the size of the most that was ever written to it,
// so all of them grow for long while bursts differ; but a new one is made only while all are in use, which are those of
// five memtables at most.
func TestOldLogsHaveACeiling(t *testing.T) {
	const memTable = 256 << 10
	const most = 5*memTable + memTable/4
	fs := vfs.NewMem()
	s := open(t, incoming.Options{FS: fs, MemTableSize: memTable})
	defer closeStore(t, s)
	rng := rand.New(rand.NewPCG(1, 2))
	after := make([]uint64, sacks)
	var highest [2]int64 // of either half
	const rounds = 60
	for round := range rounds {
		for range 1 + rng.IntN(6) {
			b, _ := blocks(rng, 1000, 0, 1, 2, 3)
			appendBlocks(t, s, b)
		}
		for sack := range after {
			if records := drain(t, s, sack, after[sack]); len(records) > 0 {
				after[sack] = records[len(records)-1].Sequence
			}
			drain(t, s, sack, after[sack])
		}
		logs := sizeOfLogs(t, fs)
		for end := time.Now().Add(2 * time.Minute); logs > most && time.Now().Before(end); logs = sizeOfLogs(t, fs) {
			time.Sleep(time.Millisecond) // Pebble deletes those that are not kept in the background
		}
		highest[2*round/rounds] = max(highest[2*round/rounds], logs)
	}
	if max(highest[0], highest[1]) > most || highest[1] < memTable {
		t.Errorf("logs of %d bytes, with memtables of %d", highest, memTable)
	}
}

func sizeOfLogs(t *testing.T, fs vfs.FS) (size int64) {
	t.Helper()
	names, err := fs.List("incoming")
	fatal.If(t, err)
	for _, name := range names {
		if info, err := fs.Stat("incoming/" + name); err == nil && strings.HasSuffix(name, ".log") {
			size += info.Size()
		}
	}
	return size
}
