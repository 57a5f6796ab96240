package metricd

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/metricd/changes"
	"github.com/gnocco-db/gnocco/metricd/heads"
	"github.com/gnocco-db/gnocco/metricd/intake"
	"github.com/gnocco-db/gnocco/metricd/view"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/storage/incoming"
)

// sack is one sack's store and the rooms around it.
type sack struct {
	number     int
	parent     *Metricd
	background background
	feeds      feeds

	work            sync.Mutex // held by the worker; guards what follows. Heads and view have a lock.
	store           *archive.Store
	intake          *intake.Intake
	heads           *heads.Heads
	view            *view.View
	request         request
	revivals        revivals
	changes         changes.Set
	growing         []uuid.UUID // metrics that look like counters, until the index knows
	checkpointBytes int         // of the last one; the next is made for about as many
}

// background is the work on a sack that no call waits for.
type background struct {
	ctx         context.Context // not kept by calls
	stop        context.CancelFunc
	checkpoints sync.WaitGroup // the loop that makes them
	damage      sync.Once      // it was told
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
	noted, err := engine.Get(store.DB(), archive.ChangesKey)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	s.changes.Load(noted)
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
	s.request.index, s.request.heads = p.options.Index, s.heads
	s.background.ctx, s.background.stop = context.WithCancel(context.Background())
	return s, nil
}

// damaged tells, once, that the sack's store cannot be worked on any more. It may be called with Pebble's locks held.
func (s *sack) damaged(err error) {
	if s.parent.options.Damaged != nil {
		s.background.damage.Do(func() { s.parent.options.Damaged(s.number, err) })
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
	defer s.request.release()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if f.detached || s.view.IsClosed() {
			return nil
		}
		s.revivals.tell(ctx, s.parent.options.Index, s.parent.options.Logger, s.number)
		if took, err := s.addWaiting(ctx, f); err != nil || !took {
			return err
		}
		if s.heads.AreFull() {
			if err := s.checkpointLocked(ctx); err != nil {
				return err
			}
		}
	}
}

// addWaiting moves what a source has for the sack into the heads, drainBytes at most. took is false if there was
// nothing. work is held.
func (s *sack) addWaiting(ctx context.Context, f *feed) (took bool, err error) {
	records, err := f.source.Drain(s.number, f.cursor.Read(), drainBytes)
	if err != nil {
		return false, fmt.Errorf("metricd: drain sack %d: %w", s.number, err)
	}
	if len(records) == 0 {
		return false, nil
	}
	return true, s.addRecords(ctx, f.cursor, records)
}

// addRecords adds records to the heads, in order; after an error those before it are in.
func (s *sack) addRecords(ctx context.Context, cursor *intake.Cursor, records []incoming.Record) error {
	s.request.asked = false
	alone := s.intake.Alone(cursor)
	if !alone {
		s.hear()
	}
	for i := range records {
		if err := ctx.Err(); err != nil {
			return err
		}
		record := &records[i]
		if block, err := s.request.decode(record); err != nil {
			s.quarantine(cursor, record, block, err)
			continue
		}
		if err := s.request.resolve(ctx, records[i:]); err != nil {
			return fmt.Errorf("metricd: sack %d: %w", s.number, err)
		}
		var from *intake.Origin
		if !alone || s.targetsAreUnsettled(cursor) {
			from = s.intake.Origin(cursor.ID(), record.Stamp.Clock)
		}
		s.addRequest(cursor, record, from)
	}
	return nil
}

// addRequest adds the measures of the request in hand to their heads. from is nil if no other store brings measures.
func (s *sack) addRequest(cursor *intake.Cursor, record *incoming.Record, from *intake.Origin) {
	counts := s.heads.Add(s.request.targets, &s.request.measures, record.Stamp.At, from, s.revivals.note)
	s.noteLate(s.changes.Horizon())
	cursor.Advance(record)
	s.parent.instruments.count(counts)
}

// quarantine keeps a block that does not decode until the next checkpoint writes it aside.
func (s *sack) quarantine(cursor *intake.Cursor, record *incoming.Record, block []byte, err error) {
	s.parent.options.Logger.Error("incoming block does not decode; kept in the sack's store",
		"sack", s.number, "sequence", record.Sequence, "error", err)
	s.parent.instruments.dropped.WithLabelValues(reasonCorrupt).Inc()
	s.intake.Quarantine(cursor, record, block)
}

// targetsAreUnsettled reports whether heads of the request in hand have measures of other stores that are not settled,
// and brings what is settled up to date then: such a store may be drained and gone while this one, the last, still has
// what was sent before. work is held.
func (s *sack) targetsAreUnsettled(cursor *intake.Cursor) bool {
	if s.intake.WasAlone() {
		return false
	}
	for _, h := range s.request.targets {
		if h != nil && h.WaitsForOthers(cursor.ID()) {
			s.hear()
			return true
		}
	}
	return false
}
