package incoming_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// set writes bytes below the store's feet.
func set(t *testing.T, s *incoming.Store, key, value []byte) {
	t.Helper()
	fatal.If(t, s.DB().Set(key, value, pebble.Sync))
}

// A record that does not decode comes like any other, and is in nobody's way.
func TestCorruptRecord(t *testing.T) {
	for _, value := range []string{"", "\xff", "\x05\x01", "\x05\x01not a block"} {
		fs := vfs.NewMem()
		s := open(t, incoming.Options{FS: fs})
		b, _ := blocks(rand.New(rand.NewPCG(1, 1)), 5, 1)
		for range 3 {
			appendBlocks(t, s, b)
		}
		for _, r := range drain(t, s, 1, 0) {
			if r.Sequence%3 != 0 {
				set(t, s, binary.BigEndian.AppendUint64([]byte{0, 1}, r.Sequence), []byte(value))
			}
		}
		closeStore(t, s)
		s = open(t, incoming.Options{FS: fs})
		var m model.Measures
		records := drain(t, s, 1, 0)
		if len(records) != 3 {
			t.Fatalf("%d records", len(records))
		}
		for _, r := range records {
			_, err := incoming.DecodeBlock(r.Block, &m)
			if want := r.Sequence%3 != 0; errors.Is(err, storage.ErrCorrupt) != want {
				t.Errorf("%q at %d: %v", value, r.Sequence, err)
			}
		}
		if pending, err := s.PendingByMetric(); err != nil || len(pending) != 1 {
			t.Errorf("pending %v, %v", pending, err)
		}
		drain(t, s, 1, s.Last(1))
		appendBlocks(t, s, b)
		if backlog := s.Backlog(); backlog.Measures != 5 {
			t.Errorf("backlog %+v", backlog.SackBacklog)
		}
		closeStore(t, s)
	}
}

func TestCorruptIdentity(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, incoming.Options{FS: fs})
	set(t, s, []byte{0xff, 0xff, 'm'}, []byte("?"))
	closeStore(t, s)
	if _, err := incoming.Open("incoming", incoming.Options{FS: fs, Sacks: sacks}); !errors.Is(err,
		storage.ErrCorrupt) {
		t.Errorf("open: %v", err)
	}
}

// An unreadable record is an error, not an end of the records.
func TestFailedRead(t *testing.T) {
	var failing atomic.Bool
	fs := inject(vfs.NewMem(), func(op errorfs.Op) error {
		if failing.Load() && op.Kind == errorfs.OpFileReadAt && strings.HasSuffix(op.Path, ".sst") {
			return errorfs.ErrInjected
		}
		return nil
	})
	s := open(t, incoming.Options{FS: fs})
	b, _ := blocks(rand.New(rand.NewPCG(2, 2)), 20_000, 1)
	for range 9 { // Open reads the first and the last
		appendBlocks(t, s, b)
	}
	fatal.If(t, s.DB().Flush())
	closeStore(t, s)

	s = open(t, incoming.Options{FS: fs, Fail: func(error) {}})
	failing.Store(true)
	if records, err := s.Drain(1, 0, 1<<20); !errors.Is(err, errorfs.ErrInjected) || records != nil {
		t.Errorf("drain: %d records, %v", len(records), err)
	}
	failing.Store(false)
	if records := drain(t, s, 1, 0); len(records) != 9 {
		t.Errorf("%d records", len(records))
	}
	closeStore(t, s)
}

// A disk that does not even say how full it is holds up nobody beyond their context.
func TestHangingFreeSpace(t *testing.T) {
	answer := make(chan struct{})
	s := open(t, incoming.Options{FreeSpace: func() (uint64, error) { <-answer; return 1 << 40, nil }})
	b, _ := blocks(rand.New(rand.NewPCG(3, 3)), 1, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := s.Append(ctx, b); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("append: %v", err)
	}
	close(answer)
	appendBlocks(t, s, b)
	closeStore(t, s)
}
