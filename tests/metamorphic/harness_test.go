// Package metamorphic_test holds the store as a whole to its rules of meaning: whatever the batches, order, sacks,
// workers, checkpoints, restarts and crashes, the archives are those that a plain recomputation gives.
package metamorphic_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"gnocco/carbonara"
	"gnocco/metricd"
	"gnocco/model"
	"gnocco/storage/incoming"
	"gnocco/storage/index"
)

// node is a whole store: index, incoming and sacks, without HTTP.
type node struct {
	t        testing.TB
	fs       vfs.FS
	sacks    int
	workers  int
	index    *index.Store
	incoming *incoming.Store
	metricd  *metricd.Metricd
}

func startNode(t testing.TB, fs vfs.FS, sacks, workers int) *node {
	t.Helper()
	n := &node{t: t, fs: fs, sacks: sacks, workers: workers}
	if err := n.open(); err != nil {
		t.Fatal(err)
	}
	return n
}

// open opens the stores as serve does; on an error what was opened is closed again.
func (n *node) open() (err error) {
	defer func() {
		if err != nil {
			n.closeStores()
		}
	}()
	if n.index, err = index.Open("index", index.Options{FS: n.fs, SkipDefaults: true}); err != nil {
		return err
	}
	if n.incoming, err = incoming.Open("incoming", incoming.Options{FS: n.fs, Sacks: n.sacks,
		FreeSpace: func() (uint64, error) { return 1 << 40, nil }}); err != nil {
		return err
	}
	n.metricd, err = metricd.New(metricd.Options{Dir: "sacks", Sacks: n.sacks, Workers: n.workers, FS: n.fs, Index: n.index,
		Incoming: n.incoming, CheckpointInterval: time.Hour, ExpungeInterval: time.Hour})
	return err
}

func (n *node) closeStores() {
	if n.incoming != nil {
		n.incoming.Close()
	}
	if n.index != nil {
		n.index.Close()
	}
	n.metricd, n.incoming, n.index = nil, nil, nil
}

// stop closes everything; a context that is done keeps it from making a last checkpoint.
func (n *node) stop(ctx context.Context) {
	if err := n.metricd.Close(ctx); err != nil && !errors.Is(err, context.Canceled) {
		n.t.Fatal(err)
	}
	n.closeStores()
}

// restart stops and starts; without a last checkpoint unless clean.
func (n *node) restart(clean bool) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if !clean {
		cancel()
	}
	n.stop(ctx)
	if err := n.open(); err != nil {
		n.t.Fatal(err)
	}
}

// post sends one request.
func (n *node) post(m *model.Measures) error {
	picks := make([][]int, n.sacks)
	for i, id := range m.Metrics {
		sack := model.Sack(id, n.sacks)
		picks[sack] = append(picks[sack], i)
	}
	var blocks []incoming.Block
	for sack, pick := range picks {
		if len(pick) > 0 {
			blocks = append(blocks, incoming.Block{Sack: sack, Data: incoming.AppendBlock(nil, m, pick, time.Now())})
		}
	}
	return n.incoming.Append(context.Background(), blocks)
}

// read returns all groups of a metric at one granularity.
func (n *node) read(id uuid.UUID, granularity time.Duration) *carbonara.Groups {
	n.t.Helper()
	ctx := context.Background()
	if err := n.metricd.Refresh(ctx, []uuid.UUID{id}); err != nil {
		n.t.Fatal(err)
	}
	metric, err := n.index.Metric(id)
	if err != nil {
		n.t.Fatal(err)
	}
	var groups carbonara.Groups
	if err := n.metricd.Groups(ctx, metric, granularity, metric.ArchivePolicy.Plan().Columns, 0, carbonara.MaxTimestamp, &groups); err != nil {
		n.t.Fatal(err)
	}
	return &groups
}
