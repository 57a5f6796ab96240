package metricd

import (
	"context"
	"fmt"
	"sync"
)

// flow is what a sack takes from one source. It outlives the source's being attached: what the heads hold of it must get
// its mark with the next checkpoint, and must not be taken twice should the source come back under another address.
type flow struct {
	id string // of the source

	// Changed under the sack's work and mu both.
	drained uint64 // sequence up to which the heads or the archives have all measures
	settled uint64 // sequence up to which the archives have

	// Under work.
	source       Source // nil while detached
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
	f := s.flows[id]
	if f == nil {
		mark, err := s.store.Mark(id)
		if err != nil {
			return fmt.Errorf("metricd: sack %d: %w", s.number, err)
		}
		f = &flow{id: id, drained: mark, settled: mark}
		s.mu.Lock()
		s.flows[id] = f
		s.mu.Unlock()
	}
	ctx, stop := context.WithCancel(s.ctx)
	f.source, f.stop, f.acknowledged = source, stop, 0
	if remote, ok := source.(RemoteSource); ok {
		remote.Follow(s.number, f.drained)
	}
	ready := source.Ready(s.number)
	f.loop.Go(func() {
		for {
			s.parent.inSlot(ctx, s, func(s *sack, ctx context.Context) error { return s.drainFlow(ctx, f) })
			select {
			case <-ctx.Done():
				return
			case <-ready:
			}
		}
	})
	return nil
}

// detach stops to take from a source.
func (s *sack) detach(id string) {
	s.work.Lock()
	f := s.flows[id]
	if f == nil || f.source == nil {
		s.work.Unlock()
		return
	}
	source := f.source
	f.stop()
	f.source = nil
	s.work.Unlock()
	f.loop.Wait()
	if remote, ok := source.(RemoteSource); ok {
		remote.Unfollow(s.number)
	}
}

// attached returns the flows whose source is there.
func (s *sack) attached() []*flow {
	s.work.Lock()
	defer s.work.Unlock()
	var flows []*flow
	for _, f := range s.flows {
		if f.source != nil {
			flows = append(flows, f)
		}
	}
	return flows
}

// refresh takes all that the sources had accepted for the sack before the call.
func (s *sack) refresh(ctx context.Context) error {
	for _, f := range s.attached() {
		for more := true; more; {
			var err error
			if more, err = s.fetch(ctx, f); err != nil {
				return fmt.Errorf("metricd: fetch sack %d: %w", s.number, err)
			}
			if err := s.drainFlow(ctx, f); err != nil {
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
func (s *sack) fetch(ctx context.Context, f *flow) (more bool, err error) {
	s.work.Lock()
	remote, ok := f.source.(RemoteSource)
	s.work.Unlock()
	if !ok {
		return false, nil
	}
	return remote.Fetch(ctx, s.number)
}

// acknowledge lets the sources delete what is in the archives. work is held.
func (s *sack) acknowledge() error {
	for _, f := range s.flows {
		if f.source == nil || f.settled == f.acknowledged {
			continue
		}
		if err := f.source.Acknowledge(s.number, f.settled); err != nil {
			return fmt.Errorf("metricd: acknowledge sack %d: %w", s.number, err)
		}
		f.acknowledged = f.settled
	}
	return nil
}

// settleFlows notes that the archives hold all that was drained, and forgets flows that ended. work and mu are held.
func (s *sack) settleFlows() {
	for id, f := range s.flows {
		f.settled = f.drained
		if f.source == nil {
			delete(s.flows, id)
		}
	}
}
