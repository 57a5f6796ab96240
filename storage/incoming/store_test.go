package incoming_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

const sacks = 4

func open(t testing.TB, options incoming.Options) *incoming.Store {
	t.Helper()
	if options.Sacks == 0 {
		options.Sacks = sacks
	}
	if options.FS == nil {
		options.FS = vfs.NewMem()
	}
	s, err := incoming.Open("incoming", options)
	fatal.If(t, err)
	return s
}

func closeStore(t testing.TB, s *incoming.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// blocks returns one block for each of the sacks, each with one metric of measures measures.
func blocks(rng *rand.Rand, measures int, in ...int) (blocks []incoming.Block, metrics []uuid.UUID) {
	for _, sack := range in {
		m := request(rng, measures)
		metrics = append(metrics, m.Metrics[0])
		blocks = append(blocks, incoming.Block{Sack: sack, Data: incoming.AppendBlock(nil, m, []int{0}, accepted)})
	}
	return blocks, metrics
}

func appendBlocks(t testing.TB, s *incoming.Store, blocks []incoming.Block) {
	t.Helper()
	fatal.If(t, s.Append(t.Context(), blocks))
}

// drain returns all records behind after, which tells the store that everything up to after is processed.
func drain(t testing.TB, s *incoming.Store, sack int, after uint64) []incoming.Record {
	t.Helper()
	records, err := s.Drain(sack, after, 1<<30)
	fatal.If(t, err)
	for _, r := range records {
		if r.Sequence <= after {
			t.Fatalf("sequence %d after %d", r.Sequence, after)
		}
		after = r.Sequence
	}
	return records
}

// metricsOf returns the metrics of the records, in order.
func metricsOf(t testing.TB, records []incoming.Record) []uuid.UUID {
	t.Helper()
	var m model.Measures
	for _, r := range records {
		if _, err := incoming.DecodeBlock(r.Block, &m); err != nil {
			t.Fatal(err)
		}
	}
	return m.Metrics
}

// All waiting appends share a sync, and readers that follow see each record once, in order.
func TestConcurrentAppends(t *testing.T) {
	const clients, requests = 32, 20
	var syncs atomic.Int64
	s := open(t, incoming.Options{FS: slowSyncs(vfs.NewMem(), &syncs, 2*time.Millisecond), RecentBytes: 4 << 10})
	before := syncs.Load()

	var appended [sacks]sync.Map // metric -> true, once Append returned
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(3, uint64(c)))
			for range requests {
				in := []int{0, 1 + rng.IntN(sacks-1)}
				b, metrics := blocks(rng, 1, in...)
				if err := s.Append(context.Background(), b); err != nil {
					t.Error(err)
					return
				}
				for i, sack := range in {
					appended[sack].Store(metrics[i], true)
				}
			}
		})
	}
	var got [sacks][]uuid.UUID
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for sack := range sacks {
		readers.Go(func() {
			after := uint64(0)
			for done := false; ; {
				records, err := s.Drain(sack, after, 1000)
				if err != nil {
					t.Error(err)
					return
				}
				for _, r := range records {
					if r.Sequence <= after {
						t.Errorf("sequence %d after %d", r.Sequence, after)
					}
					after = r.Sequence
				}
				got[sack] = append(got[sack], metricsOf(t, records)...)
				if len(records) > 0 {
					continue
				}
				if done {
					return
				}
				select {
				case <-s.Ready(sack):
				case <-stop:
					done = true
				}
			}
		})
	}
	wg.Wait()
	close(stop)
	readers.Wait()
	if n := syncs.Load() - before; n > clients*requests/8 {
		t.Errorf("%d requests took %d syncs", clients*requests, n)
	}
	for sack := range sacks {
		want := 0
		appended[sack].Range(func(id, _ any) bool {
			want++
			if !slices.Contains(got[sack], id.(uuid.UUID)) {
				t.Errorf("sack %d: lost %v", sack, id)
			}
			return true
		})
		if len(got[sack]) != want {
			t.Errorf("sack %d: %d records, want %d", sack, len(got[sack]), want)
		}
	}
	if b := s.Backlog(); b.Measures != 0 || b.Blocks != 0 || !b.Oldest.IsZero() {
		t.Errorf("backlog %+v", b)
	}
	closeStore(t, s)
}

// Drain returns the same records from memory and from the store, in portions of any size.
func TestRecentOrStore(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	type stored struct{ sequences, metrics string }
	read := func(s *incoming.Store, sack int, after uint64, maxBytes int) (got stored) {
		for {
			records, err := s.Drain(sack, after, maxBytes)
			fatal.If(t, err)
			if len(records) == 0 {
				return got
			}
			size := 0
			for _, r := range records {
				size += len(r.Block)
				after = r.Sequence
				got.sequences += fmt.Sprint(r.Sequence, " ")
			}
			if len(records) > 1 && size > maxBytes {
				t.Fatalf("%d bytes, want %d", size, maxBytes)
			}
			got.metrics += fmt.Sprint(metricsOf(t, records))
		}
	}
	fs := vfs.NewMem()
	large, small := open(t, incoming.Options{FS: fs}), open(t, incoming.Options{FS: vfs.NewMem(), RecentBytes: 2000})
	defer closeStore(t, small)
	var sequences []uint64
	for range 100 {
		b, _ := blocks(rng, 1+rng.IntN(20), 1)
		appendBlocks(t, large, b)
		appendBlocks(t, small, b)
		sequences = append(sequences, large.Last(1))
	}
	var wants []stored
	check := func(s *incoming.Store) {
		t.Helper()
		i := 0
		for _, after := range []uint64{0, sequences[0], sequences[50] - 1, sequences[50],
			sequences[98], sequences[99]} {
			for _, maxBytes := range []int{0, 500, 1 << 20} {
				if i == len(wants) {
					wants = append(wants, read(s, 1, after, maxBytes))
				} else if got := read(s, 1, after, maxBytes); got != wants[i] {
					t.Errorf("after %d, %d bytes: %v, want %v", after, maxBytes, got, wants[i])
				}
				i++
			}
		}
	}
	check(large)
	check(large) // memory holds nothing now: the first reader reported everything as processed
	check(small)
	closeStore(t, large)
	reopened := open(t, incoming.Options{FS: fs})
	check(reopened)
	closeStore(t, reopened)
}

func TestFreeSpace(t *testing.T) { synctest.Test(t, testFreeSpace) }

func testFreeSpace(t *testing.T) {
	var free atomic.Uint64
	var asked atomic.Int64
	free.Store(1 << 30)
	logged := make(messages, 10)
	s := open(t, incoming.Options{MinFreeBytes: 1 << 20, Logger: slog.New(slog.NewTextHandler(logged, nil)),
		FreeSpace: func() (uint64, error) {
			asked.Add(1)
			return free.Load(), nil
		}})
	defer closeStore(t, s)
	b, _ := blocks(rand.New(rand.NewPCG(6, 6)), 1, 1)
	for range 100 {
		appendBlocks(t, s, b)
	}
	if n := asked.Load(); n > 3 {
		t.Errorf("asked %d times", n)
	}
	for range 2 { // it is said once
		free.Store(4<<20 - 1)
		time.Sleep(incoming.FreeSpaceInterval)
		appendBlocks(t, s, b)
	}
	if said := <-logged; !strings.Contains(said, "disk is nearly full") {
		t.Errorf("logged %s", said)
	}
	free.Store(1<<20 - 1)
	time.Sleep(incoming.FreeSpaceInterval)
	err := s.Append(t.Context(), b)
	if !errors.Is(err, incoming.ErrNoSpace) || !errors.Is(err, model.ErrUnavailable) {
		t.Errorf("append without space: %v", err)
	}
	if said := <-logged; !strings.Contains(said, "measures are refused") {
		t.Errorf("logged %s", said)
	}
	free.Store(1 << 20)
	time.Sleep(incoming.FreeSpaceInterval)
	appendBlocks(t, s, b)
}

// Where the free space cannot be known, measures are accepted, and the log says so.
func TestUnknownFreeSpace(t *testing.T) {
	logged := make(messages, 10)
	s := open(t, incoming.Options{Logger: slog.New(slog.NewTextHandler(logged, nil)),
		FreeSpace: func() (uint64, error) { return 0, errors.New("no answer") }})
	defer closeStore(t, s)
	b, _ := blocks(rand.New(rand.NewPCG(6, 6)), 1, 1)
	appendBlocks(t, s, b)
	select {
	case said := <-logged:
		if !strings.Contains(said, "free disk space is unknown") || !strings.Contains(said, "no answer") {
			t.Errorf("logged %s", said)
		}
	default:
		t.Error("logged nothing")
	}
}

// messages is a log's writer, of a message each.
type messages chan string

func (m messages) Write(text []byte) (int, error) {
	m <- string(text)
	return len(text), nil
}

// A disk that hangs holds up nobody beyond context and timeout, and what was given up before the committer took it
// is never stored. A close that the disk holds up can be done later.
func TestHangingDisk(t *testing.T) { synctest.Test(t, testHangingDisk) }

func testHangingDisk(t *testing.T) {
	hang := make(chan struct{})
	var hanging atomic.Bool
	fs := inject(vfs.NewMem(), func(op errorfs.Op) error {
		if hanging.Load() && isLog(op) {
			<-hang
		}
		return nil
	})
	s := open(t, incoming.Options{FS: fs, Timeout: 200 * time.Millisecond, QueueBytes: 60})
	rng := rand.New(rand.NewPCG(7, 7))
	b, metrics := blocks(rng, 1, 1)
	hanging.Store(true)
	if err := s.Append(t.Context(), b); !errors.Is(err, incoming.ErrTimeout) {
		t.Errorf("append: %v", err)
	}
	// The committer is stuck with that one; the next ones wait in the queue.
	canceled, cancel := context.WithCancel(t.Context())
	given, _ := blocks(rng, 1, 1)
	result := make(chan error)
	go func() { result <- s.Append(canceled, given) }()
	time.Sleep(50 * time.Millisecond)
	if err := s.Append(t.Context(), given); !errors.Is(err, incoming.ErrBusy) {
		t.Errorf("append to a full queue: %v", err)
	}
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("append: %v", err)
	}
	if err := s.Close(); !errors.Is(err, incoming.ErrTimeout) {
		t.Errorf("close: %v", err)
	}
	hanging.Store(false)
	close(hang)
	closeStore(t, s)
	if err := s.Close(); !errors.Is(err, incoming.ErrClosed) {
		t.Errorf("close again: %v", err)
	}
	s = open(t, incoming.Options{FS: fs})
	if got := metricsOf(t, drain(t, s, 1, 0)); !slices.Equal(got, metrics) {
		t.Errorf("stored %v, want %v", got, metrics)
	}
	closeStore(t, s)
}

func TestMetrics(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	s := open(t, incoming.Options{Registerer: registry})
	b, _ := blocks(rand.New(rand.NewPCG(8, 8)), 5, 0, 2)
	appendBlocks(t, s, b)
	if err := s.Append(t.Context(), []incoming.Block{b[1], b[0]}); err == nil {
		t.Error("sacks out of order were taken")
	}
	families, err := registry.Gather()
	fatal.If(t, err)
	got := make(map[string]float64)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			switch {
			case m.Histogram != nil:
				got[f.GetName()] += float64(m.Histogram.GetSampleCount())
			case m.Counter != nil:
				got[f.GetName()] += m.Counter.GetValue()
			default:
				got[f.GetName()] += m.Gauge.GetValue()
			}
		}
	}
	f := func(name string, want float64) {
		t.Helper()
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
	f("gnocco_incoming_requests_total", 1)
	f("gnocco_incoming_measures_total", 10)
	f("gnocco_incoming_refused_total", 1)
	f("gnocco_incoming_commit_requests", 1)
	f("gnocco_incoming_commit_seconds", 1)
	f("gnocco_incoming_backlog_measures", 10)
	if got["gnocco_incoming_backlog_age_seconds"] < 1e6 {
		t.Errorf("age %v", got["gnocco_incoming_backlog_age_seconds"])
	}
	closeStore(t, s)
	if families, err := registry.Gather(); err != nil || len(families) != 0 {
		t.Errorf("after close: %v, %v", families, err)
	}
}

// A store that was drained takes little room when it is closed, however much went through it.
func TestDrainedStoreIsSmall(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "incoming")
	s, err := incoming.Open(dir, incoming.Options{Sacks: 2, MinFreeBytes: 1 << 20, MemTableSize: 1 << 20})
	fatal.If(t, err)
	id := s.ID()
	random := rand.New(rand.NewPCG(1, 1))
	for range 200 { // 6 MB
		large, _ := blocks(random, 4000, 1)
		appendBlocks(t, s, large)
	}
	fatal.If(t, s.Acknowledge(1, s.Last(1)))
	fatal.If(t, s.Close())
	var total int64
	entries, err := os.ReadDir(dir)
	fatal.If(t, err)
	for _, entry := range entries {
		info, err := entry.Info()
		fatal.If(t, err)
		total += info.Size()
	}
	if total > 64<<10 {
		t.Errorf("%d bytes in %v", total, entries)
	}
	if s, err = incoming.Open(dir, incoming.Options{Sacks: 2, MinFreeBytes: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	if s.ID() != id {
		t.Error("another identity")
	}
	fatal.If(t, s.Close())
}
