package metricd

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/gnocco-db/gnocco/storage/incoming"
)

// sourceCursor is a sack's position in one source. It outlives the source's attachment: the next checkpoint must write
// the mark of the measures that the heads hold, and none may be read twice if the source comes back under another
// address.
type sourceCursor struct {
	id string // of the source

	// Changed under the sack's work and mu both.
	read    uint64 // sequence up to which the heads or the archives have all measures
	applied uint64 // sequence up to which the archives have all measures

	// All records behind read have later stamps than frontier, once anything was heard. See order.go.
	frontier incoming.Stamp
	heard    bool

	source Source      // nil while detached; changed under work and mu both
	waits  atomic.Bool // the worker does, for more to come or for its turn; see gather.go

	// Under work.
	acknowledged uint64 // sequence up to which the source was told
	stop         context.CancelFunc
	loop         sync.WaitGroup
}

// attach makes the sack take from a source, in the background, from the mark on.
func (s *sack) attach(source Source) error {
	id := source.ID()
	s.work.Lock()
	defer s.work.Unlock()
	if s.ctx.Err() != nil {
		return nil // being closed
	}
	cursor := s.cursors[id]
	if cursor == nil {
		mark, err := s.store.Mark(id)
		if err != nil {
			return fmt.Errorf("metricd: sack %d: %w", s.number, err)
		}
		cursor = &sourceCursor{id: id, read: mark, applied: mark}
		s.mu.Lock()
		s.cursors[id] = cursor
		s.mu.Unlock()
	}
	ctx, stop := context.WithCancel(s.ctx)
	s.setSource(cursor, source)
	cursor.stop, cursor.acknowledged = stop, 0
	if remote, ok := source.(RemoteSource); ok {
		remote.Follow(s.number, cursor.read)
	}
	ready := source.Ready(s.number)
	cursor.waits.Store(true)
	cursor.loop.Go(func() {
		var pauses pauses
		for {
			s.parent.inSlot(ctx, s, func(s *sack, ctx context.Context) error {
				cursor.waits.Store(false)
				return s.drainSource(ctx, cursor)
			})
			select {
			case <-ctx.Done():
				return
			case <-ready:
			}
			if !pauses.gather(ctx, source, cursor, s.number) {
				return
			}
		}
	})
	return nil
}

// detach stops to take from a source.
func (s *sack) detach(id string) {
	s.work.Lock()
	cursor := s.cursors[id]
	if cursor == nil || cursor.source == nil {
		s.work.Unlock()
		return
	}
	source := cursor.source
	cursor.stop()
	s.setSource(cursor, nil)
	s.work.Unlock()
	cursor.loop.Wait()
	if remote, ok := source.(RemoteSource); ok {
		remote.Unfollow(s.number)
	}
}

// setSource attaches a source to a cursor, or none. work is held.
func (s *sack) setSource(cursor *sourceCursor, source Source) {
	s.mu.Lock()
	defer s.mu.Unlock()
	cursor.source = source
}

// attached returns the cursors whose source is attached.
func (s *sack) attached() []*sourceCursor {
	s.work.Lock()
	defer s.work.Unlock()
	var cursors []*sourceCursor
	for _, cursor := range s.cursors {
		if cursor.source != nil {
			cursors = append(cursors, cursor)
		}
	}
	return cursors
}

// refresh takes all that the sources had accepted for the sack before the call.
func (s *sack) refresh(ctx context.Context) error {
	for _, cursor := range s.attached() {
		for more := true; more; {
			var err error
			if more, err = s.fetch(ctx, cursor); err != nil {
				return fmt.Errorf("metricd: fetch sack %d: %w", s.number, err)
			}
			if err := s.drainSource(ctx, cursor); err != nil {
				return err
			}
		}
	}
	if s.ctx.Err() != nil {
		return notOwned(s.number) // given away meanwhile: what was not taken any more is for the next holder to take
	}
	return nil
}

// fetch brings over what a remote source has.
func (s *sack) fetch(ctx context.Context, cursor *sourceCursor) (more bool, err error) {
	s.work.Lock()
	remote, ok := cursor.source.(RemoteSource)
	s.work.Unlock()
	if !ok {
		return false, nil
	}
	return remote.Fetch(ctx, s.number)
}

// acknowledge lets the sources delete what is in the archives. work is held.
func (s *sack) acknowledge() error {
	for _, cursor := range s.cursors {
		if cursor.source == nil || cursor.applied == cursor.acknowledged {
			continue
		}
		if err := cursor.source.Acknowledge(s.number, cursor.applied); err != nil {
			return fmt.Errorf("metricd: acknowledge sack %d: %w", s.number, err)
		}
		cursor.acknowledged = cursor.applied
	}
	return nil
}

// advanceCursors notes that the archives hold all that was read, and forgets cursors of detached sources that nobody
// waits for. work and mu are held.
func (s *sack) advanceCursors() {
	known := s.parent.known.Load()
	for id, cursor := range s.cursors {
		cursor.applied = cursor.read
		if cursor.source == nil && (known == nil || !known.waits(id)) {
			delete(s.cursors, id)
		}
	}
}
