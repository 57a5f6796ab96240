package incoming

import (
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/internal/keyhash"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// The store has lists up to a number, also after others came and stayed away.
func TestListsAreBounded(t *testing.T) {
	l := newIDLists(1)
	sequence := uint64(0)
	use := func(hash int) (number uint64) {
		sequence++
		number, _ = l.use(0, keyhash.Hash{uint64(hash), 1}, sequence)
		return number
	}
	s := &l.sacks[0]
	for i := range maxLists + 10 {
		use(i)
		if use(i); len(s.stored) > maxLists {
			t.Fatalf("%d lists are stored", len(s.stored))
		}
	}
	if use(0) == 0 || use(maxLists-1) == 0 || use(maxLists) != 0 {
		t.Error("the lists that came first are not those that are stored")
	}
}

// The array of the recent records is used again, unless a burst has made it large.
func TestRecentRecordsLetGo(t *testing.T) {
	var r recentRecords
	fill := func(n int) {
		for range n {
			r.records = append(r.records, recentRecord{})
		}
	}
	fill(100)
	array := cap(r.records)
	if r.drop(100); cap(r.records) != array {
		t.Errorf("an array of %d records is given up for one of %d", array, cap(r.records))
	}
	fill(100 * keptRecords)
	if r.drop(100*keptRecords - 1); len(r.records) != 1 {
		t.Fatalf("%d records", len(r.records))
	}
	if r.drop(1); cap(r.records) >= 50*keptRecords {
		t.Errorf("an array of %d records is kept", cap(r.records))
	}
}

// The clocks of epochs of which there are no records go: a process that starts often leaves one.
func TestClocksOfEpochsGo(t *testing.T) {
	fs := vfs.NewMem()
	for range 5 {
		s, err := Open("incoming", Options{FS: fs, Sacks: 2})
		fatal.If(t, err)
		stored, err := readClocks(s.db)
		fatal.If(t, errors.Join(err, s.Close()))
		if len(stored) != 1 {
			t.Errorf("%d clocks are stored", len(stored))
		}
	}
}

// A reader that gathers is woken when much waits, and not before.
func TestMuchWakes(t *testing.T) {
	for size, want := range map[int]int{busyBytes - 1: 0, busyBytes: 1} {
		s := sack{ready: make(chan struct{}, 1), busy: make(chan struct{}, 1)}
		s.recent.size = size
		s.wake()
		if len(s.ready) != 1 || len(s.busy) != want {
			t.Errorf("%d bytes: %d tokens of records, %d of busy, want 1 and %d", size, len(s.ready), len(s.busy), want)
		}
	}
}
