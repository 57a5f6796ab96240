package testnode

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/metricd"
	"github.com/gnocco-db/gnocco/metricd/latetypes"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/storage/index"
)

// Options of a node. FS and Sacks are needed; the others are metricd's.
type Options struct {
	FS            vfs.FS
	Sacks         int
	Workers       int
	HeadBytes     int64
	GroupBytes    int64
	BatchMeasures int // as in metricd.Options
	Resampler     carbonara.Resampler
	ClockError    func(clock uuid.UUID) time.Duration
	Clock         func() int64 // of the stamps; nil: the wall clock
}

// Node is the stores of one process.
type Node struct {
	t        testing.TB
	options  Options
	Index    *index.Store
	Incoming *incoming.Store
	Metricd  *metricd.Metricd

	registry *prometheus.Registry // of metricd, since it was opened
}

// Start opens a node.
func Start(t testing.TB, options Options) *Node {
	t.Helper()
	n := &Node{t: t, options: options}
	if err := n.open(); err != nil {
		t.Fatal(err)
	}
	return n
}

// open opens the stores as serve does; on an error what was opened is closed again.
func (n *Node) open() (err error) {
	defer func() {
		if err != nil {
			n.closeStores()
		}
	}()
	if n.Index, err = index.Open("index", index.Options{FS: n.options.FS, SkipDefaults: true}); err != nil {
		return err
	}
	clock := incoming.Clock{Now: n.options.Clock}
	if n.Incoming, err = incoming.Open("incoming", incoming.Options{FS: n.options.FS, Sacks: n.options.Sacks, Clock: clock,
		FreeSpace: func() (uint64, error) { return 1 << 40, nil }}); err != nil {
		return err
	}
	n.registry = prometheus.NewRegistry()
	n.Metricd, err = Workers(metricd.Options{
		Registerer: n.registry, Sacks: n.options.Sacks, Workers: n.options.Workers, FS: n.options.FS,
		HeadBytes: n.options.HeadBytes, GroupBytes: n.options.GroupBytes, BatchMeasures: n.options.BatchMeasures,
		Index: WorkersIndex{n.Index}, Resampler: n.options.Resampler, ClockError: n.options.ClockError,
		CheckpointInterval: time.Hour, ExpungeInterval: time.Hour,
	}, "sacks", n.Incoming)
	return err
}

// Workers returns workers that take from a source and hold all sacks, in folders below dir; "": none.
func Workers(o metricd.Options, dir string, source metricd.Source) (*metricd.Metricd, error) {
	w, err := metricd.New(o)
	if err != nil {
		return nil, err
	}
	err = w.Attach(source)
	for i := 0; dir != "" && i < o.Sacks && err == nil; i++ {
		err = w.Open(i, filepath.Join(dir, fmt.Sprintf("%03d", i), "e1"))
	}
	if err != nil {
		return nil, errors.Join(err, w.Close(context.Background()))
	}
	return w, nil
}

// WorkersIndex is an index as the workers of its process see it.
type WorkersIndex struct{ *index.Store }

// Growing implements metricd.Index.
func (x WorkersIndex) Growing(ctx context.Context, ids []uuid.UUID) error {
	return latetypes.Growing(ctx, x.Store, ids, slog.New(slog.DiscardHandler))
}

func (n *Node) closeStores() {
	if n.Incoming != nil {
		n.Incoming.Close()
	}
	if n.Index != nil {
		n.Index.Close()
	}
	n.Metricd, n.Incoming, n.Index = nil, nil, nil
}

// Stop closes everything; a context that is done keeps it from making a last checkpoint.
func (n *Node) Stop(ctx context.Context) {
	if err := n.Metricd.Close(ctx); err != nil && !errors.Is(err, context.Canceled) {
		n.t.Fatal(err)
	}
	n.closeStores()
}

// Restart stops and starts; without a last checkpoint unless clean.
func (n *Node) Restart(clean bool) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if !clean {
		cancel()
	}
	n.Stop(ctx)
	if err := n.open(); err != nil {
		n.t.Fatal(err)
	}
}

// Post sends one request.
func (n *Node) Post(m *model.Measures) error {
	picks := make([][]int, n.options.Sacks)
	for i, id := range m.Metrics {
		sack := model.Sack(id, n.options.Sacks)
		picks[sack] = append(picks[sack], i)
	}
	var blocks []incoming.Block
	for sack, pick := range picks {
		if len(pick) > 0 {
			blocks = append(blocks, incoming.Block{Sack: sack, Data: incoming.AppendBlock(nil, m, pick, time.Now())})
		}
	}
	return n.Incoming.Append(context.Background(), blocks)
}

// Rebuild gives archives the schema of the archive policies that the index has for them now.
func (n *Node) Rebuild(ctx context.Context, ids ...uuid.UUID) (done model.RebuildCounts, err error) {
	metrics, err := n.Index.CurrentMetrics(ids)
	if err != nil {
		return done, err
	}
	var policies []*model.ArchivePolicy
	for _, m := range metrics {
		policies = append(policies, m.ArchivePolicy)
	}
	return n.Metricd.Rebuild(ctx, ids, policies)
}

// Read returns all groups of a metric at one granularity.
func (n *Node) Read(id uuid.UUID, granularity time.Duration) *carbonara.Groups {
	n.t.Helper()
	ctx := context.Background()
	if err := n.Metricd.Refresh(ctx, []uuid.UUID{id}); err != nil {
		n.t.Fatal(err)
	}
	metric, err := n.Index.Metric(id)
	if err != nil {
		n.t.Fatal(err)
	}
	columns := metric.ArchivePolicy.Plan().Columns
	all := model.Read{Metric: metric, Granularity: granularity, Columns: columns, To: carbonara.MaxTimestamp}
	var groups carbonara.Groups
	if err := n.Metricd.Groups(ctx, all, &groups); err != nil {
		n.t.Fatal(err)
	}
	return &groups
}

// Value returns that of one of metricd's counters, since the node was opened, or gauges.
func (n *Node) Value(name string) float64 {
	n.t.Helper()
	families, err := n.registry.Gather()
	if err != nil {
		n.t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetCounter().GetValue() + f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	n.t.Fatalf("there is no metric %s", name)
	return 0
}
