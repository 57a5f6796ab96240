package metricd

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gnocco-db/gnocco/metricd/intake"
	"github.com/gnocco-db/gnocco/model"
)

// feed is a source that is attached to a sack, and the worker that drains it.
type feed struct {
	source Source
	cursor *intake.Cursor
	stop   context.CancelFunc
	loop   sync.WaitGroup
	waits  atomic.Bool // the worker does, for more to come or for its turn; see gather.go

	// detached is guarded by work.
	detached     bool
	acknowledged uint64 // sequence up to which the source was told
}

// feeds are those of a sack. They change under work; any goroutine may list them.
type feeds struct {
	list       atomic.Pointer[[]*feed]
	catchingUp sync.Mutex // taken before work, by reads; see gather.go
}

// all returns the feeds. The caller must not change the slice.
func (f *feeds) all() []*feed {
	if list := f.list.Load(); list != nil {
		return *list
	}
	return nil
}

func (f *feeds) add(one *feed) {
	f.list.Store(new(append(slices.Clone(f.all()), one)))
}

func (f *feeds) remove(one *feed) {
	f.list.Store(new(slices.DeleteFunc(slices.Clone(f.all()), func(other *feed) bool { return other == one })))
}

// find returns the feed of a source, nil for none.
func (f *feeds) find(id string) *feed {
	for _, one := range f.all() {
		if one.cursor.ID() == id {
			return one
		}
	}
	return nil
}

// attach makes the sack take from a source, in the background, from the mark on.
func (s *sack) attach(source Source) error {
	s.work.Lock()
	defer s.work.Unlock()
	if s.background.ctx.Err() != nil {
		return nil // being closed
	}
	cursor, err := s.intake.Attach(source.ID(), s.store.Mark)
	if err != nil {
		return fmt.Errorf("metricd: sack %d: %w", s.number, err)
	}
	ctx, stop := context.WithCancel(s.background.ctx)
	f := &feed{source: source, cursor: cursor, stop: stop}
	if remote, ok := source.(RemoteSource); ok {
		remote.Follow(s.number, cursor.Read())
	}
	ready := source.Ready(s.number)
	f.waits.Store(true)
	s.feeds.add(f)
	f.loop.Go(func() {
		var pauses intake.Pauses
		for {
			s.parent.inSlot(ctx, s, func(s *sack, ctx context.Context) error {
				f.waits.Store(false)
				return s.drainSource(ctx, f)
			})
			select {
			case <-ctx.Done():
				return
			case <-ready:
			}
			if !f.gather(ctx, &pauses, s.number) {
				return
			}
		}
	})
	return nil
}

// detach stops to take from a source.
func (s *sack) detach(id string) {
	s.work.Lock()
	f := s.feeds.find(id)
	if f == nil {
		s.work.Unlock()
		return
	}
	f.stop()
	f.detached = true
	s.feeds.remove(f)
	s.intake.Detach(f.cursor)
	s.work.Unlock()
	f.loop.Wait()
	if remote, ok := f.source.(RemoteSource); ok {
		remote.Unfollow(s.number)
	}
}

// refresh takes all that the sources had accepted for the sack before the call. The error is a model.ErrUnavailable if
// a source was detached meanwhile: perhaps another process has its store, with more measures.
func (s *sack) refresh(ctx context.Context) error {
	feeds := s.feeds.all()
	for _, f := range feeds {
		for more := true; more; {
			var err error
			if more, err = f.fetch(ctx, s.number); err != nil {
				return fmt.Errorf("metricd: fetch sack %d: %w", s.number, err)
			}
			if err := s.drainSource(ctx, f); err != nil {
				return err
			}
		}
	}
	if s.background.ctx.Err() != nil {
		return notOwned(s.number) // given away meanwhile; the next holder takes the rest
	}
	s.work.Lock()
	defer s.work.Unlock()
	if slices.ContainsFunc(feeds, func(f *feed) bool { return f.detached }) {
		return fmt.Errorf("%w: metricd: sack %d: an incoming store is with another process", model.ErrUnavailable,
			s.number)
	}
	return nil
}

// fetch brings over what a remote source has.
func (f *feed) fetch(ctx context.Context, sack int) (more bool, err error) {
	remote, ok := f.source.(RemoteSource)
	if !ok {
		return false, nil
	}
	return remote.Fetch(ctx, sack)
}

// hear asks the sources for their frontiers, and finds out what is settled by now. work is held.
func (s *sack) hear() {
	for _, f := range s.feeds.all() {
		if frontier, ok := f.source.Frontier(s.number, f.cursor.Read()); ok {
			f.cursor.Hear(frontier)
		}
	}
	s.intake.Settle()
}

// acknowledge lets the sources delete what is in the archives. work is held.
func (s *sack) acknowledge() error {
	for _, f := range s.feeds.all() {
		applied := f.cursor.Applied()
		if applied == f.acknowledged {
			continue
		}
		if err := f.source.Acknowledge(s.number, applied); err != nil {
			return fmt.Errorf("metricd: acknowledge sack %d: %w", s.number, err)
		}
		f.acknowledged = applied
	}
	return nil
}
