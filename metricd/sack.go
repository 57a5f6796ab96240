package metricd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/metricd/intake"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/storage/incoming"
)

// sack is one sack's store and heads.
type sack struct {
	number int
	parent *Metricd
	store  *archive.Store

	ctx         context.Context // of its background work; not kept by calls
	stop        context.CancelFunc
	checkpoints sync.WaitGroup // the loop that makes them
	damage      sync.Once      // it was told

	work       sync.Mutex // taken first: drain, checkpoint, expunge, attach; guards what follows, up to catchingUp
	request    model.Measures
	block      []byte  // of the request, if it came without its ids
	targets    []*head // of request's metrics; nil for those that are gone
	touched    int     // means nothing, see touch
	lists      headLists
	resolved   map[uuid.UUID]*model.Metric // looked up for the records in hand; nil for none
	resolvedAt uint64                      // the index's generation of that look: heads of another were not looked up
	plans      []*carbonara.Plan           // of archives in the schema of earlier policies

	checkpointBytes int // of the last one; the next is made for about as many

	// revivals are resources that ended, and have measures since then: the newest timestamp, until the index knows.
	revivals map[uuid.UUID]carbonara.Timestamp

	keepsUnsettled bool // a metric of the store has, or had, unsettled measures

	intake *intake.Intake
	feeds  feeds

	catchingUp sync.Mutex // taken before work, by reads; see gather.go

	mu        sync.RWMutex // guards what follows; see doc.go
	heads     map[uuid.UUID]*head
	dirty     []*head
	pending   int // measures in heads
	bytes     int // what these take, with the memory that heads keep for the next ones
	corrupted []corruptBlock
	closed    bool

	recent recentCache
}

// corruptBlock is an incoming block that did not decode, until the next checkpoint keeps it.
type corruptBlock struct {
	source   string
	sequence uint64
	data     []byte
}

// drainBytes bounds what one call takes from the incoming store.
const drainBytes = 4 << 20

func (p *Metricd) openSack(number int, dir string) (*sack, error) {
	s := &sack{number: number, parent: p, heads: make(map[uuid.UUID]*head),
		intake: intake.New(intake.Options{Sources: p.known.Load, ClockError: p.options.ClockError})}
	s.recent.init(p.options.GroupBytes / int64(p.options.Sacks))
	store, err := archive.Open(dir, archive.Options{
		FS: p.options.FS, Cache: p.options.Cache, FileCache: p.options.FileCache,
		Sack:         archive.Sack{Number: number, Of: p.options.Sacks},
		Logger:       p.options.Logger.With("sack", number),
		MemTableSize: p.options.MemTableSize, Collector: p.options.Collector, Fail: p.options.Fail, Corrupt: s.damaged,
	})
	if err != nil {
		return nil, err
	}
	s.store = store
	if err := store.Pin(); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	if s.keepsUnsettled, err = store.KeepsUnsettled(); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s, nil
}

// damaged tells, once, that the sack's store cannot be worked on any more. It may be called with Pebble's locks held.
func (s *sack) damaged(err error) {
	if s.parent.options.Damaged != nil {
		s.damage.Do(func() { s.parent.options.Damaged(s.number, err) })
	}
}

// close closes the store. Reads that come later are not answered.
func (s *sack) close() error {
	s.work.Lock()
	defer s.work.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	return s.store.Close()
}

// commit makes a change of the store durable, then lets reads see it together with the change of the heads that apply
// makes. work is held. Reads go on while the disk syncs: until the end they see the store and the heads as before.
func (s *sack) commit(c *archive.Checkpoint, apply func()) error {
	if err := c.Commit(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	apply()
	return s.store.Pin()
}

// drain moves all that the sources have for the sack into the heads.
func (s *sack) drain(ctx context.Context) error {
	for _, f := range s.feeds.all() {
		if err := s.drainSource(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// drainSource moves all that one source has for the sack into the heads, with checkpoints where memory asks for them.
func (s *sack) drainSource(ctx context.Context, f *feed) error {
	s.work.Lock()
	defer s.work.Unlock()
	defer s.forgetRequest()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if f.detached || s.closed {
			return nil
		}
		s.revive(ctx)
		if took, err := s.takeWaiting(ctx, f); err != nil || !took {
			return err
		}
		if s.headsAreFull() {
			if err := s.checkpointLocked(ctx); err != nil {
				return err
			}
		}
	}
}

// takeWaiting moves what a source has for the sack into the heads, drainBytes at most. took is false if there was
// nothing. work is held.
func (s *sack) takeWaiting(ctx context.Context, f *feed) (took bool, err error) {
	records, err := f.source.Drain(s.number, f.cursor.Read(), drainBytes)
	if err != nil {
		return false, fmt.Errorf("metricd: drain sack %d: %w", s.number, err)
	}
	if len(records) == 0 {
		return false, nil
	}
	return true, s.take(ctx, f.cursor, records)
}

// forgetRequest lets go of the memory of a large request: every sack has some of its own.
func (s *sack) forgetRequest() {
	if cap(s.request.Values) > idleRequest {
		s.request, s.block = model.Measures{}, nil
	}
	s.resolved = nil
}

// idleRequest is the number of measures whose memory a sack keeps from one drain to the next.
const idleRequest = 16 << 10

// headBytes is about what a head takes without its measures: itself, its place in the sack's map, a row of aggregates
// by granularity, its metric.
const headBytes = 400

// headsAreFull reports whether heads and their measures have used up the sack's share of memory. A checkpoint empties
// it.
func (s *sack) headsAreFull() bool {
	return s.bytes+len(s.heads)*headBytes >= s.memoryForHeads()
}

func (s *sack) memoryForHeads() int {
	return int(s.parent.options.HeadBytes / int64(s.parent.options.Sacks))
}

// take adds records to the heads, in order; after an error those before it are in.
func (s *sack) take(ctx context.Context, cursor *intake.Cursor, records []incoming.Record) error {
	s.resolved = nil
	alone := s.intake.Alone(cursor)
	if !alone {
		s.hear()
	}
	for i := range records {
		record := &records[i]
		s.request.Reset()
		block := record.Whole(&s.block)
		if _, err := incoming.DecodeBlock(block, &s.request); err != nil {
			s.quarantine(cursor, record, block, err)
			continue
		}
		if err := s.resolve(ctx, records[i:]); err != nil {
			return fmt.Errorf("metricd: sack %d: %w", s.number, err)
		}
		var from *intake.Origin
		if !alone || s.targetsAreUnsettled(cursor) {
			from = s.intake.Origin(cursor.ID(), record.Stamp.Clock)
		}
		s.takeRequest(cursor, record, from)
	}
	return nil
}

// takeRequest adds the measures of the request in hand to their heads. from is nil if no other store brings measures.
func (s *sack) takeRequest(cursor *intake.Cursor, record *incoming.Record, from *intake.Origin) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all taken
	for i, h := range s.targets {
		if i%touchedAtOnce == 0 {
			s.touched += touch(s.targets[i:min(i+touchedAtOnce, len(s.targets))])
		}
		timestamps, values := s.request.Of(i)
		if h == nil {
			all.deleted += len(timestamps)
			continue
		}
		all.add(s.accept(h, record.Stamp.At, from, timestamps, values))
		if h.ofEnded {
			s.noteRevival(h.metric, timestamps)
		}
	}
	cursor.Took(record)
	s.parent.instruments.count(all)
}

// quarantine keeps a block that does not decode until the next checkpoint writes it aside.
func (s *sack) quarantine(cursor *intake.Cursor, record *incoming.Record, block []byte, err error) {
	s.parent.options.Logger.Error("incoming block does not decode; kept in the sack's store",
		"sack", s.number, "sequence", record.Sequence, "error", err)
	s.parent.instruments.dropped.WithLabelValues(reasonCorrupt).Inc()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.corrupted = append(s.corrupted, corruptBlock{cursor.ID(), record.Sequence, bytes.Clone(block)})
	cursor.Took(record)
}

func (s *sack) accept(h *head, at int64, from *intake.Origin, timestamps []carbonara.Timestamp,
	values []float64) taken {
	s.bytes -= h.pending.Bytes()
	t := h.accept(at, from, timestamps, values)
	s.bytes += h.pending.Bytes()
	s.pending += t.accepted
	h.used = true
	if !h.dirty {
		h.dirty = true
		s.dirty = append(s.dirty, h)
	}
	return t
}

// resolve sets targets to the heads of the request in hand, which the first of these records is. The first time that it
// has to ask the index it asks for all metrics of the records that are left: the index may be far away.
func (s *sack) resolve(ctx context.Context, rest []incoming.Record) error {
	generation := s.parent.options.Index.Generation()
	if listed := s.lists.find(rest[0].List, generation); listed != nil {
		s.targets = append(s.targets[:0], listed...)
		return nil
	}
	s.targets = s.targets[:0]
	for _, id := range s.request.Metrics {
		h := s.heads[id]
		if h == nil || h.generation != generation {
			var err error
			if h, err = s.headOf(ctx, id, h, generation, rest); err != nil {
				return err
			}
		}
		s.targets = append(s.targets, h)
	}
	s.lists.add(rest[0].List, s.targets, len(s.heads))
	return nil
}

// dropHead forgets the head of a metric. work and mu are held.
func (s *sack) dropHead(id uuid.UUID, h *head) {
	s.recent.forget(h)
	s.bytes -= h.pending.Bytes()
	delete(s.heads, id)
	s.lists.clear()
}

// headOf returns the metric's head as of the index's generation, nil for a metric that is gone. h is the head so far,
// nil for none.
func (s *sack) headOf(ctx context.Context, id uuid.UUID, h *head, generation uint64,
	rest []incoming.Record) (*head, error) {
	if s.resolved == nil || s.resolvedAt != generation {
		if err := s.find(ctx, rest, generation); err != nil {
			return nil, err
		}
	}
	metric := s.resolved[id]
	if metric == nil {
		return nil, nil
	}
	if h == nil {
		return s.heads[id], nil // found with the metric
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h.follow(metric)
	h.generation = generation
	return h, nil
}

// find looks up all metrics of records whose heads are not of this generation, and makes the heads of those that have
// none.
func (s *sack) find(ctx context.Context, records []incoming.Record, generation uint64) error {
	seen := make(map[uuid.UUID]bool)
	var ids, block []uuid.UUID
	for i := range records {
		block = records[i].AppendMetrics(block[:0])
		for _, id := range block {
			if h := s.heads[id]; !seen[id] && (h == nil || h.generation != generation) {
				seen[id] = true
				ids = append(ids, id)
			}
		}
	}
	// What is read of the index, and of the archives, lies in this order.
	slices.SortFunc(ids, model.CompareIDs)
	found := make([]*model.Metric, len(ids))
	if err := s.parent.options.Index.Find(ctx, ids, found); err != nil {
		return err
	}
	if err := s.loadHeads(found, generation); err != nil {
		return err
	}
	s.resolved, s.resolvedAt = make(map[uuid.UUID]*model.Metric, len(ids)), generation
	for i, id := range ids {
		s.resolved[id] = found[i]
	}
	return nil
}

// loadHeads makes the heads of those metrics that have none in memory. A nil metric is gone.
func (s *sack) loadHeads(metrics []*model.Metric, generation uint64) (err error) {
	walk := s.store.Walk()
	defer func() { err = errors.Join(err, walk.Close()) }()
	var loaded []*head
	var raw series // memory
	for _, metric := range metrics {
		if metric == nil || s.heads[metric.ID] != nil {
			continue
		}
		h, err := s.loadHead(metric, &walk, &raw)
		if err != nil {
			return err
		}
		h.generation = generation
		loaded = append(loaded, h)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range loaded {
		s.heads[h.metric.ID] = h
	}
	return nil
}

// loadHead makes the head of a metric from the archive. Raw is memory.
func (s *sack) loadHead(metric *model.Metric, walk *archive.Walk, raw *series) (*head, error) {
	end, err := raw.readAfterEnd(walk, metric.ID, func(end carbonara.RawEnd) (carbonara.Timestamp, bool) {
		return end.Present, end.Any
	})
	if err != nil {
		return nil, err
	}
	s.parent.instruments.corrupt.Add(float64(end.Corrupt))
	plan, err := s.planOf(metric)
	if err != nil {
		return nil, err
	}
	h := &head{hasBase: end.Any, judge: intake.NewJudge(plan, metric.ArchivePolicy.BackWindow)}
	if end.Any {
		h.base = carbonara.Measure{Timestamp: end.Newest, Value: raw.values[len(raw.values)-1]}
	}
	h.judge.Load(end.RawEnd, raw.timestamps, h.base)
	h.setMetric(metric)
	if err := s.loadUnsettled(h); err != nil {
		return nil, err
	}
	if h.judge.Incomplete() {
		if h.partial, err = s.partialGroups(metric.ID); err != nil {
			return nil, err
		}
	}
	h.complete()
	return h, nil
}

// targetsAreUnsettled reports whether heads of the request in hand have measures of other stores that are not settled,
// and brings what is settled up to date then: such a store may be drained and gone while this one, the last, still has
// what was sent before. work is held.
func (s *sack) targetsAreUnsettled(cursor *intake.Cursor) bool {
	if s.intake.WasAlone() {
		return false
	}
	for _, h := range s.targets {
		if h != nil && h.judge.WaitsForOthers(cursor.ID()) {
			s.hear()
			return true
		}
	}
	return false
}

// partialGroups returns those of a metric, nil for none. If they do not decode, fewer late measures are accepted.
func (s *sack) partialGroups(metric uuid.UUID) (*archive.PartialGroups, error) {
	partial, err := s.store.PartialGroups(metric)
	if errors.Is(err, storage.ErrCorrupt) {
		s.parent.instruments.corrupt.Inc()
		s.parent.options.Logger.Error("partial groups do not decode; they stay", "metric", metric, "error", err)
		return nil, nil
	}
	return partial, err
}
