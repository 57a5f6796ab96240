package peer_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cluster/peer"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A damaged block of another process's store holds up its own sack, which says so, and no other.
func TestDamagedBlockHoldsUpItsSack(t *testing.T) {
	var damaged atomic.Bool
	fs := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		// The records of the first sack lie first in the one table.
		if damaged.Load() && op.Kind == errorfs.OpFileReadAt && strings.HasSuffix(op.Path, ".sst") &&
			op.Offset < 30_000 {
			return fmt.Errorf("injected: %w", pebble.ErrCorruption)
		}
		return nil
	}))
	cache := pebble.NewCache(1) // keeps nothing
	defer cache.Unref()
	open := func() *incoming.Store {
		t.Helper()
		store, err := incoming.Open("incoming/x/e1", incoming.Options{FS: fs, Cache: cache, Sacks: 2})
		fatal.If(t, err)
		return store
	}
	random := rand.New(rand.NewPCG(1, 1))
	appendTo := func(store *incoming.Store, sacks ...int) {
		t.Helper()
		var blocks []incoming.Block
		for _, sack := range sacks {
			const n = 5_000 // of 8 bytes that do not compress
			m := &model.Measures{Metrics: []uuid.UUID{uuid.New()}, Offsets: []int{0, n}}
			for i := range n {
				m.Timestamps, m.Values = append(m.Timestamps, start+carbonara.Timestamp(i)), append(m.Values,
					random.NormFloat64())
			}
			blocks = append(blocks, incoming.Block{Sack: sack,
				Data: incoming.AppendBlock(nil, m, []int{0}, time.Now())})
		}
		fatal.If(t, store.Append(t.Context(), blocks))
	}
	store := open()
	appendTo(store, 0, 1)
	fatal.If(t, store.Close())
	store = open()
	defer store.Close()
	damaged.Store(true)

	key, err := peer.LoadKey(t.TempDir())
	fatal.If(t, err)
	process := &peer.Process{Key: key, Store: func(string) *incoming.Store { return store },
		Unreadable: func(id string, err error) error {
			if id != store.ID() || !pebble.IsCorruptionError(err) {
				return err
			}
			return &model.DamagedError{Store: "incoming/x", Reason: err.Error()}
		}}
	server := httptest.NewServer(process.Handler())
	defer server.Close()
	client := peer.NewClient(key, nil, peer.TCP)
	defer client.Close()
	source := peer.NewSource(client, strings.TrimPrefix(server.URL, "http://"), store.ID(), nil,
		slog.New(slog.DiscardHandler))
	defer source.Close()
	source.Follow(0, 0)
	source.Follow(1, 0)
	await := func(sack, want int) (records []incoming.Record, err error) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for {
			if records, err = source.Drain(sack, 0, 10<<20); err != nil || len(records) >= want {
				return records, err
			}
			select {
			case <-ctx.Done():
				t.Fatalf("sack %d: %d records", sack, len(records))
			case <-source.Ready(sack):
			}
		}
	}
	if _, err := await(1, 1); err != nil {
		t.Error(err)
	}
	named := func(err error) {
		t.Helper()
		if told := new(model.DamagedError); !errors.As(err, &told) || told.Store != "incoming/x" || told.Reason == "" {
			t.Errorf("%v, want a model.DamagedError", err)
		}
	}
	_, err = await(0, 1)
	named(err)
	_, err = source.Fetch(t.Context(), 0)
	named(err)
	appendTo(store, 1)
	if _, err := await(1, 2); err != nil {
		t.Error(err)
	}
	if more, err := source.Fetch(t.Context(), 1); more || err != nil {
		t.Error(more, err)
	}
}
