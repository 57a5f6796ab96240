package incoming_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/gnocco-db/gnocco/internal/keyhash"
	"github.com/gnocco-db/gnocco/internal/roster"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// sender sends measures of the same metrics, request after request, to sack 0.
type sender struct {
	rng  *rand.Rand
	like *model.Measures
}

func newSender(seed uint64, metrics int) *sender {
	rng := rand.New(rand.NewPCG(seed, 1))
	return &sender{rng, request(rng, slices.Repeat([]int{1}, metrics)...)}
}

func (s *sender) blocks() []incoming.Block {
	for i := range s.like.Values {
		s.like.Values[i] = s.rng.NormFloat64()
	}
	return []incoming.Block{{Sack: 0, Data: incoming.AppendBlock(nil, s.like, all(s.like), accepted)}}
}

// stored returns the bytes of the store's records, and how many lists it has.
func stored(t *testing.T, db *pebble.DB) (records, lists int) {
	t.Helper()
	iter, err := db.NewIter(nil)
	fatal.If(t, err)
	defer iter.Close()
	for ok := iter.First(); ok; ok = iter.Next() {
		e, err := incoming.VerifyEntry(db, iter.Key(), iter.Value())
		if err != nil {
			t.Errorf("%v: %v", e, err)
		}
		switch {
		case e.List != 0:
			lists++
		case e.Sequence != 0:
			records += len(iter.Value())
		}
	}
	return records, lists
}

// The ids of metrics that are sent again and again are stored once; readers get the blocks as they came, also after the
// store was opened anew, and the list goes when nothing refers to it any more.
func TestLists(t *testing.T) {
	const metrics, requests = 100, 10
	fs := vfs.NewMem()
	s := open(t, incoming.Options{FS: fs})
	sender := newSender(1, metrics)
	var sent []incoming.Block
	for range requests {
		b := sender.blocks()
		sent = append(sent, b...)
		appendBlocks(t, s, b)
	}
	bytesOf, lists := stored(t, s.DB())
	most := 50*requests - 16*metrics*(requests-1)
	for _, b := range sent {
		most += len(b.Data)
	}
	if bytesOf > most || lists != 1 {
		t.Errorf("%d bytes, at most %d expected; %d lists", bytesOf, most, lists)
	}
	check := func() {
		t.Helper()
		records := drain(t, s, 0, 0)
		if len(records) != len(sent) {
			t.Fatalf("%d records, want %d", len(records), len(sent))
		}
		for i, r := range records {
			if !bytes.Equal(r.Block, sent[i].Data) {
				t.Errorf("record %d is not what was sent", i)
			}
		}
	}
	check()
	if pending, err := s.PendingByMetric(); err != nil || len(pending) != metrics ||
		pending[sender.like.Metrics[0]] != requests {
		t.Errorf("%d pending metrics, %v", len(pending), err)
	}
	closeStore(t, s)
	s = open(t, incoming.Options{FS: fs, RecentBytes: 1})
	check()
	if got := s.Backlog().Measures; got != metrics*requests {
		t.Errorf("backlog of %d measures", got)
	}

	// It was used since the last time that anything was acknowledged, and then not any more.
	for turn, want := range []int{1, 0} {
		fatal.If(t, s.Acknowledge(0, s.Last(0)))
		b, _ := blocks(sender.rng, 1, 0)
		appendBlocks(t, s, b) // takes the acknowledgement with it
		if _, lists := stored(t, s.DB()); lists != want {
			t.Errorf("%d lists after %d turns", lists, turn+1)
		}
	}
	closeStore(t, s)
}

// A stop with nothing left leaves no list.
func TestListsAfterStop(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, incoming.Options{FS: fs})
	sender := newSender(2, 100)
	for range 3 {
		appendBlocks(t, s, sender.blocks())
	}
	fatal.If(t, s.Acknowledge(0, s.Last(0)))
	closeStore(t, s)
	s = open(t, incoming.Options{FS: fs})
	if bytes, lists := stored(t, s.DB()); bytes != 0 || lists != 0 {
		t.Errorf("%d bytes of records and %d lists are left", bytes, lists)
	}
	closeStore(t, s)
}

// A record whose list is damaged is reported like one that is damaged itself.
func TestDamagedList(t *testing.T) {
	s := open(t, incoming.Options{RecentBytes: 1})
	sender := newSender(3, 10)
	for range 3 {
		appendBlocks(t, s, sender.blocks())
	}
	iter, err := s.DB().NewIter(&pebble.IterOptions{LowerBound: []byte{0xff, 0xff, 'i'}})
	fatal.If(t, err)
	if !iter.First() {
		t.Fatal("no list")
	}
	key, value := bytes.Clone(iter.Key()), bytes.Clone(iter.Value())
	fatal.If(t, iter.Close())
	for i := range value {
		value[i] ^= 1
		fatal.If(t, s.DB().Set(key, value, nil))
		value[i] ^= 1
		if _, err := incoming.VerifyEntry(s.DB(), key, append(value[:i:i], value[i+1:]...)); !errors.Is(err,
			storage.ErrCorrupt) {
			t.Errorf("without byte %d: %v", i, err)
		}
		var m model.Measures
		for j, r := range drain(t, s, 0, 0) {
			if _, err := incoming.DecodeBlock(r.Block, &m); (err == nil) != (j == 0) {
				t.Errorf("byte %d of the list changed: record %d: %v", i, j, err)
			}
		}
	}
	closeStore(t, s)
}

// A crash before the k-th write, for every k: a record never lacks its list.
func TestCrashWithLists(t *testing.T) {
	for k, done := 1, false; !done; k++ {
		unsynced := 50 * (k % 2)
		mem := vfs.NewCrashableMem()
		var crashed *vfs.MemFS
		var acknowledged, acked, ackedThen, acknowledgedThen uint64
		writes := 0 // the test's goroutine waits while the committer writes
		arm := make(chan struct{}, 1)
		arm <- struct{}{}
		fs := inject(mem, func(op errorfs.Op) error {
			if op.Kind.ReadOrWrite() != errorfs.OpIsWrite {
				return nil
			}
			<-arm
			defer func() { arm <- struct{}{} }()
			if writes++; writes == k {
				ackedThen, acknowledgedThen = acked, acknowledged
				crashed = mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: unsynced,
					RNG: rand.New(rand.NewPCG(1, uint64(k)))})
			}
			return nil
		})
		s := open(t, incoming.Options{FS: fs})
		senders := []*sender{newSender(1, 20), newSender(2, 30)}
		for round := range 12 {
			appendBlocks(t, s, senders[round/6].blocks())
			<-arm
			acked = s.Last(0)
			arm <- struct{}{}
			if round%3 == 2 {
				<-arm
				acknowledged = s.Last(0)
				arm <- struct{}{}
				fatal.If(t, s.Acknowledge(0, s.Last(0)))
			}
			if round == 7 {
				fatal.If(t, s.DB().Flush())
			}
		}
		closeStore(t, s)
		if done = crashed == nil; done {
			break
		}
		s = open(t, incoming.Options{FS: crashed})
		stored(t, s.DB())
		last := uint64(0)
		for _, r := range drain(t, s, 0, 0) {
			metricsOf(t, []incoming.Record{r})
			last = r.Sequence
		}
		if ackedThen > acknowledgedThen && last < ackedThen {
			t.Errorf("acknowledged %d, found %d", ackedThen, last)
		}
		closeStore(t, s)
		if t.Failed() {
			t.Fatalf("crash at write %d, %d %% of what was not synced is kept", k, unsynced)
		}
	}
}

// The ids of few metrics stay in their records.
func TestFewMetricsAreNoList(t *testing.T) {
	for metrics := range roster.MinListed + 1 {
		s := open(t, incoming.Options{})
		sender := newSender(4, metrics)
		for range 3 {
			appendBlocks(t, s, sender.blocks())
		}
		isList := metrics == roster.MinListed
		if _, lists := stored(t, s.DB()); (lists == 1) != isList {
			t.Errorf("%d lists of %d metrics", lists, metrics)
		}
		if list := incoming.ListOf(sender.blocks()[0].Data); (list != keyhash.Hash{}) != isList {
			t.Errorf("the list of %d metrics is %v", metrics, list)
		}
		closeStore(t, s)
	}
}
