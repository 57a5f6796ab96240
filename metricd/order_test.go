package metricd_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/keyhash"
	"github.com/gnocco-db/gnocco/metricd/intake"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// clockStart is what clocks show at second 0: a day after the measures, so that none is ahead.
const clockStart = int64(start) + int64(24*time.Hour)

// stampedSource is an incoming store whose records have the stamps that a script gives them.
type stampedSource struct {
	name  string
	clock uuid.UUID
	ready chan struct{}

	mu       sync.Mutex
	records  []incoming.Record
	frontier int // in seconds; 0 for none
}

func (s *stampedSource) ID() string                    { return s.name }
func (s *stampedSource) Ready(int) <-chan struct{}     { return s.ready }
func (s *stampedSource) Acknowledge(int, uint64) error { return nil }

func (s *stampedSource) Drain(_ int, after uint64, _ int) ([]incoming.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.records[min(int(after), len(s.records)):]), nil
}

func (s *stampedSource) Frontier(_ int, after uint64) (incoming.Stamp, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stamp(s.frontier), s.frontier != 0 && int(after) >= len(s.records)
}

func (s *stampedSource) setFrontier(second int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frontier = second
}

func (s *stampedSource) stamp(second int) incoming.Stamp {
	return incoming.Stamp{Clock: s.clock, At: clockStart + int64(time.Duration(second)*time.Second)}
}

func (s *stampedSource) put(m *model.Measures, second int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records = append(s.records, incoming.Record{Sequence: uint64(len(s.records) + 1), Stamp: s.stamp(second),
		Block: incoming.AppendBlock(nil, m, []int{0}, time.Now())})
}

// clockOf returns the identity of the clock of a name.
func clockOf(name string) uuid.UUID { return uuid.NewSHA1(uuid.Nil, []byte(name)) }

// setSources reads names of stores, each with the clock that it has.
func (s *script) setSources(t *testing.T, d *datadriven.TestData) {
	t.Helper()
	s.known = &intake.Sources{Complete: true}
	for _, arg := range d.CmdArgs {
		if arg.Key == "unknown" {
			s.known.Complete = false
			continue
		}
		s.known.Waited = append(s.known.Waited, arg.Key)
		if s.sources[arg.Key] == nil {
			s.sources[arg.Key] = &stampedSource{name: arg.Key, clock: clockOf(arg.Vals[0]),
				ready: make(chan struct{}, 1)}
		}
	}
	s.attach(t)
}

// attach tells the node of the stores.
func (s *script) attach(t *testing.T) {
	t.Helper()
	if s.known == nil {
		return
	}
	s.node.Metricd.SetSources(*s.known)
	for _, source := range s.sources {
		fatal.If(t, s.node.Metricd.Attach(source))
	}
}

// send lets a source bring a request, and waits until it is taken.
func (s *script) send(t *testing.T, d *datadriven.TestData, m *model.Measures, second int) {
	t.Helper()
	s.sources[d.CmdArgs[0].Key].put(m, second)
	fatal.If(t, s.node.Metricd.Refresh(t.Context(), m.Metrics))
}

// BenchmarkAccept takes requests of one measure of each of many metrics, from the only incoming store and from one of
// two; also of more metrics in turn than the processor's caches hold.
func BenchmarkAccept(b *testing.B) {
	for _, stores := range []int{1, 2} {
		for _, requests := range []int{1, 200} {
			b.Run(fmt.Sprintf("stores=%d/metrics=%d", stores, 1000*requests), func(b *testing.B) {
				if testing.Short() {
					requests = 1
				}
				benchmarkAccept(b, stores, requests)
			})
		}
	}
}

// benchmarkAccept names 1,000 metrics in each request, and others in the next, as long as there are some.
func benchmarkAccept(b *testing.B, stores, requests int) {
	const perRequest = 1000
	ctx := context.Background()
	n := testnode.Start(b, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1})
	defer n.Stop(ctx)
	source := &stampedSource{name: "a", clock: clockOf("one"), ready: make(chan struct{}, 1)}
	other := &stampedSource{name: "b", clock: clockOf("one"), ready: make(chan struct{}, 1)}
	known := intake.Sources{Complete: true, Waited: []string{"a", "b"}[:stores]}
	n.Metricd.SetSources(known)
	for _, s := range []*stampedSource{source, other}[:stores] {
		fatal.If(b, n.Metricd.Attach(s))
	}
	policy := newPolicy(b, "accept", 1, []time.Duration{time.Minute}, "mean")
	fatal.If(b, n.Index.CreateArchivePolicy(ctx, policy))
	all := make([]*model.Metric, perRequest*requests)
	for i := range all {
		all[i] = &model.Metric{ID: uuid.New(), ArchivePolicy: policy, Creator: "admin"}
	}
	fatal.If(b, n.Index.CreateMetrics(ctx, all))
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	parts := make([]*model.Measures, requests)
	for i := range parts {
		m := &model.Measures{Offsets: []int{0}}
		for _, metric := range all[i*perRequest : (i+1)*perRequest] {
			m.Metrics = append(m.Metrics, metric.ID)
			m.Timestamps, m.Values = append(m.Timestamps, 0), append(m.Values, 1)
			m.Offsets = append(m.Offsets, len(m.Values))
		}
		parts[i] = m
	}
	pick := make([]int, perRequest)
	for i := range pick {
		pick[i] = i
	}
	sequence := 0
	post := func() {
		m := parts[sequence%requests]
		sequence++
		for i := range m.Timestamps {
			m.Timestamps[i] = start + carbonara.Timestamp(sequence)*1e9
		}
		block := incoming.AppendBlock(nil, m, pick, time.Now())
		_, ids, _, err := incoming.CutIDs(block)
		fatal.If(b, err)
		source.mu.Lock()
		source.records = append(source.records, incoming.Record{Sequence: uint64(sequence),
			Stamp: source.stamp(sequence), Block: block, List: keyhash.Of(ids)})
		source.mu.Unlock()
		other.setFrontier(sequence)
		fatal.If(b, n.Metricd.Refresh(ctx, m.Metrics[:1]))
	}
	for range 2 * requests { // heads and their lists are there
		post()
	}
	before := sequence
	for b.Loop() {
		post()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64((sequence-before)*perRequest), "ns/measure")
}
