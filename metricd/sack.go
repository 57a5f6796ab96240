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
	"github.com/gnocco-db/gnocco/metricd/heads"
	"github.com/gnocco-db/gnocco/metricd/intake"
	"github.com/gnocco-db/gnocco/metricd/view"
	"github.com/gnocco-db/gnocco/model"
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

	work    sync.Mutex // taken first: drain, checkpoint, expunge, attach; guards what follows, up to catchingUp
	request model.Measures
	block   []byte        // of the request, if it came without its ids
	targets []*heads.Head // of request's metrics; nil for those that are gone
	asked   bool          // the index, for all metrics of the records in hand
	askedAt uint64        // its generation then

	checkpointBytes int // of the last one; the next is made for about as many

	// revivals are resources that ended, and have measures since then: the newest timestamp, until the index knows.
	revivals  map[uuid.UUID]carbonara.Timestamp
	corrupted []corruptBlock

	intake *intake.Intake
	feeds  feeds
	heads  *heads.Heads
	view   *view.View

	catchingUp sync.Mutex // taken before work, by reads; see gather.go

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
	s := &sack{number: number, parent: p,
		intake: intake.New(intake.Options{Sources: p.known.Load, ClockError: p.options.ClockError})}
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
	corrupt := func(n int) { p.instruments.corrupt.Add(float64(n)) }
	s.heads, err = heads.New(heads.Options{
		Store: store, Intake: s.intake, Bytes: int(p.options.HeadBytes / int64(p.options.Sacks)),
		Logger: p.options.Logger, Dropped: func(h *heads.Head) { s.view.Forget(h) },
		Corrupt: corrupt,
	})
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	s.view, err = view.New(view.Options{
		Store: store, Heads: s.heads, GroupBytes: p.options.GroupBytes / int64(p.options.Sacks), Memory: p.memory,
		Corrupt: corrupt,
	})
	if err != nil {
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
	return s.view.Close()
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
		if f.detached || s.view.IsClosed() {
			return nil
		}
		s.revive(ctx)
		if took, err := s.takeWaiting(ctx, f); err != nil || !took {
			return err
		}
		if s.heads.AreFull() {
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
	s.asked = false
}

// idleRequest is the number of measures whose memory a sack keeps from one drain to the next.
const idleRequest = 16 << 10

// take adds records to the heads, in order; after an error those before it are in.
func (s *sack) take(ctx context.Context, cursor *intake.Cursor, records []incoming.Record) error {
	s.asked = false
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
	counts := s.heads.Add(s.targets, &s.request, record.Stamp.At, from, s.noteRevival)
	cursor.Took(record)
	s.parent.instruments.count(counts)
}

// quarantine keeps a block that does not decode until the next checkpoint writes it aside.
func (s *sack) quarantine(cursor *intake.Cursor, record *incoming.Record, block []byte, err error) {
	s.parent.options.Logger.Error("incoming block does not decode; kept in the sack's store",
		"sack", s.number, "sequence", record.Sequence, "error", err)
	s.parent.instruments.dropped.WithLabelValues(reasonCorrupt).Inc()
	s.corrupted = append(s.corrupted, corruptBlock{cursor.ID(), record.Sequence, bytes.Clone(block)})
	cursor.Took(record)
}

// resolve sets targets to the heads of the request in hand, which the first of these records is. The first time that it
// has to ask the index it asks for all metrics of the records that are left: the index may be far away.
func (s *sack) resolve(ctx context.Context, rest []incoming.Record) error {
	generation := s.parent.options.Index.Generation()
	list, all := rest[0].List, false
	if s.targets, all = s.heads.Find(list, s.request.Metrics, generation, s.targets[:0]); all {
		s.heads.Remember(list, s.targets)
		return nil
	}
	if s.asked && s.askedAt == generation {
		return nil // metrics without a head are gone
	}
	if err := s.ask(ctx, rest, generation); err != nil {
		return err
	}
	if s.targets, all = s.heads.Find(list, s.request.Metrics, generation, s.targets[:0]); all {
		s.heads.Remember(list, s.targets)
	}
	return nil
}

// ask looks up all metrics of records whose heads are not of this generation.
func (s *sack) ask(ctx context.Context, records []incoming.Record, generation uint64) error {
	ids := s.outdated(records, generation)
	found := make([]*model.Metric, len(ids))
	if err := s.parent.options.Index.Find(ctx, ids, found); err != nil {
		return err
	}
	if err := s.heads.Renew(found, generation); err != nil {
		return err
	}
	s.asked, s.askedAt = true, generation
	return nil
}

// outdated returns the metrics of records whose heads are not of this generation, in the order in which the index and
// the archives keep what is read of them.
func (s *sack) outdated(records []incoming.Record, generation uint64) []uuid.UUID {
	s.heads.RLock()
	defer s.heads.RUnlock()
	seen := make(map[uuid.UUID]bool)
	var ids, block []uuid.UUID
	for i := range records {
		block = records[i].AppendMetrics(block[:0])
		for _, id := range block {
			if !seen[id] && !s.heads.IsCurrent(id, generation) {
				seen[id] = true
				ids = append(ids, id)
			}
		}
	}
	slices.SortFunc(ids, model.CompareIDs)
	return ids
}

// targetsAreUnsettled reports whether heads of the request in hand have measures of other stores that are not settled,
// and brings what is settled up to date then: such a store may be drained and gone while this one, the last, still has
// what was sent before. work is held.
func (s *sack) targetsAreUnsettled(cursor *intake.Cursor) bool {
	if s.intake.WasAlone() {
		return false
	}
	for _, h := range s.targets {
		if h != nil && h.WaitsForOthers(cursor.ID()) {
			s.hear()
			return true
		}
	}
	return false
}
