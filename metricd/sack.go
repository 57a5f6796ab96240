package metricd

import (
	"context"
	"fmt"
	"sync"

	"github.com/google/uuid"

	"gnocco/carbonara"
	"gnocco/model"
	"gnocco/storage/archive"
	"gnocco/storage/incoming"
)

// sack is one sack's store and heads.
type sack struct {
	number int
	parent *Metricd
	store  *archive.Store

	work         sync.Mutex // taken first: drain, checkpoint, expunge; guards the next two
	request      model.Measures
	acknowledged uint64 // incoming sequence up to which the incoming store was told

	mu        sync.RWMutex // guards what follows; see doc.go
	heads     map[uuid.UUID]*head
	dirty     []*head
	pending   int    // measures in heads
	drained   uint64 // incoming sequence up to which the heads have all measures
	corrupted []corruptBlock
}

// corruptBlock is an incoming block that did not decode, until the next checkpoint keeps it.
type corruptBlock struct {
	sequence uint64
	data     []byte
}

// drainBytes bounds what one call takes from the incoming store.
const drainBytes = 4 << 20

func (p *Metricd) openSack(number int, dir string) (*sack, error) {
	store, err := archive.Open(dir, archive.Options{
		FS: p.options.FS, Cache: p.options.Cache, FileCache: p.options.FileCache, Logger: p.options.Logger.With("sack", number), Collector: p.options.Collector,
	})
	if err != nil {
		return nil, err
	}
	s := &sack{number: number, parent: p, store: store, heads: make(map[uuid.UUID]*head)}
	if s.drained, err = store.Mark(p.options.Incoming.ID()); err != nil {
		return nil, fmt.Errorf("metricd: sack %d: %w", number, err)
	}
	return s, nil
}

// drain moves all that the incoming store has for the sack into the heads, with checkpoints where memory asks for
// them.
func (s *sack) drain(ctx context.Context) error {
	s.work.Lock()
	defer s.work.Unlock()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		records, err := s.parent.options.Incoming.Drain(s.number, s.drained, drainBytes)
		if err != nil {
			return fmt.Errorf("metricd: drain sack %d: %w", s.number, err)
		}
		if len(records) == 0 {
			return nil
		}
		if err := s.take(records); err != nil {
			return err
		}
		if int64(s.pending)*measureBytes >= s.parent.options.CheckpointBytes/int64(s.parent.options.Sacks) {
			if err := s.checkpointLocked(ctx); err != nil {
				return err
			}
		}
	}
}

// measureBytes is the memory of a measure in a head.
const measureBytes = 16

// take adds records to the heads.
func (s *sack) take(records []incoming.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.pending
	for _, record := range records {
		s.request.Reset()
		if _, err := incoming.DecodeBlock(record.Block, &s.request); err != nil {
			s.parent.options.Logger.Error("incoming block does not decode; kept in the sack's store",
				"sack", s.number, "sequence", record.Sequence, "error", err)
			s.parent.metrics.dropped.WithLabelValues(reasonCorrupt).Inc()
			s.corrupted = append(s.corrupted, corruptBlock{record.Sequence, append([]byte(nil), record.Block...)})
			s.drained = record.Sequence
			continue
		}
		for i, id := range s.request.Metrics {
			h, err := s.headOf(id)
			if err != nil {
				return err
			}
			timestamps, values := s.request.Of(i)
			if h == nil {
				s.parent.metrics.dropped.WithLabelValues(reasonDeleted).Add(float64(len(timestamps)))
				continue
			}
			s.accept(h, timestamps, values)
		}
		s.drained = record.Sequence
	}
	s.parent.metrics.processed.Add(float64(s.pending - before))
	return nil
}

func (s *sack) accept(h *head, timestamps []carbonara.Timestamp, values []float64) {
	dropped := h.accept(timestamps, values)
	s.pending += len(timestamps) - dropped
	if dropped > 0 {
		s.parent.metrics.dropped.WithLabelValues(reasonTooOld).Add(float64(dropped))
	}
	h.used = true
	if !h.dirty {
		h.dirty = true
		s.dirty = append(s.dirty, h)
	}
}

// headOf returns the metric's head, made from the store where there is none yet; nil for a metric that is gone.
func (s *sack) headOf(id uuid.UUID) (*head, error) {
	index := s.parent.options.Index
	generation := index.Generation()
	h := s.heads[id]
	if h != nil && h.generation == generation {
		return h, nil
	}
	metric := index.Lookup(id)
	if metric == nil {
		return nil, nil
	}
	if h != nil {
		h.surveyed = h.surveyed && metric.ArchivePolicy == h.metric.ArchivePolicy
		h.metric, h.generation = metric, generation
		return h, nil
	}
	h, err := s.loadHead(metric)
	if err != nil {
		return nil, err
	}
	h.generation = generation
	s.heads[id] = h
	return h, nil
}

// loadHead makes the head of a metric that has none in memory.
func (s *sack) loadHead(metric *model.Metric) (*head, error) {
	h := &head{metric: metric, plan: metric.ArchivePolicy.Plan()}
	newest, ok, corrupt, err := s.store.LastRaw(metric.ID)
	if err != nil {
		return nil, err
	}
	s.parent.metrics.corrupt.Add(float64(corrupt))
	h.newest, h.hasNewest = newest, ok
	h.base, h.hasBase = newest, ok
	return h, nil
}
