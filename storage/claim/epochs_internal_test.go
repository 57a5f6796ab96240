package claim

import (
	"errors"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Only files of lower numbers may be removed as left over: others may be about to get their name. (A process that left
// while it tidied removed the file by which it gave a claim back.)
func TestTemporaryNumber(t *testing.T) {
	f := func(file string, want uint64) {
		t.Helper()
		if got, ok := temporaryEpoch(file); got != want || ok != (want != 0) {
			t.Errorf("%s: %d %v, want %d", file, got, ok, want)
		}
	}
	f("tmp-vm-a2f1f0ec.0666b000-9a1a-6", 6)
	f("tmp-vm-a2f1f0ec.0666b000-9a1a-6.released.", 6)
	f("tmp-x-12", 12)
	f("6", 0)
	f("6.released.vm-a2f1f0ec", 0)
	f("tmp-vm", 0)
	f("tmp-", 0)
	f("tmp-x-0", 0)
}

// A look from a TTL ago says nothing of an epoch: the member may have been dead meanwhile, its claim removed.
func TestEpochsAreConfirmedInTime(t *testing.T) {
	clock := new(setClock)
	s := &session{root: "data", fs: vfs.NewMem(), options: Options{Clock: clock, TTL: time.Second},
		Deadline: NewDeadline(clock, time.Hour, 0)}
	fatal.If(t, MakeFolders(s.fs, s.root, s.claimsDir("sacks/1")))
	file, err := s.fs.Create(s.claimPath("sacks/1", 3), vfs.WriteCategoryUnspecified)
	fatal.If(t, errors.Join(err, file.Close()))
	begun := clock.Now()
	clock.now += time.Second - 1
	if err := s.confirm("sacks/1", 3, begun); err != nil {
		t.Errorf("within the TTL: %v", err)
	}
	clock.now++
	if err := s.confirm("sacks/1", 3, begun); !errors.Is(err, errTooSlow) {
		t.Errorf("after the TTL: %v", err)
	}
	var held *HeldError
	if err := s.confirm("sacks/1", 2, clock.Now()); !errors.As(err, &held) || held.Holder.Epoch != 3 {
		t.Errorf("of an epoch that is not the last: %v", err)
	}
}
