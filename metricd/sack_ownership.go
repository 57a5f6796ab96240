package metricd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// Open opens a sack's store in dir, which is made if it is not there, and begins to work on it, while others go on, or
// are opened and closed. The caller has the right to the sack, by a claim.
func (p *Metricd) Open(number int, dir string) error {
	p.moving[number].Lock()
	defer p.moving[number].Unlock()
	if p.sacks[number].Load() != nil {
		return fmt.Errorf("metricd: sack %d is open already", number)
	}
	s, err := p.openSack(number, dir)
	if err != nil {
		return err
	}
	p.changing.Lock()
	defer p.changing.Unlock()
	for _, source := range p.sources {
		if err := s.attach(source); err != nil {
			s.background.stop()
			return errors.Join(err, s.close())
		}
	}
	s.background.checkpoints.Go(func() { p.checkpointLoop(s) })
	p.sacks[number].Store(s)
	return nil
}

// CloseSack stops to work on a sack after the request in hand, writes down what its heads hold until ctx ends, and
// closes its store. Until then it answers reads. The next holder replays the rest. CloseSack does nothing if the sack
// is not held.
func (p *Metricd) CloseSack(ctx context.Context, number int) error {
	p.moving[number].Lock()
	defer p.moving[number].Unlock()
	s := p.sacks[number].Load()
	if s == nil {
		return nil
	}
	p.end(s)
	for _, f := range s.feeds.all() {
		f.loop.Wait()
	}
	if err := s.checkpoint(ctx); err != nil {
		p.options.Logger.Warn("sack closed without a last checkpoint", "sack", number, "error", err)
	}
	p.sacks[number].Store(nil)
	for _, f := range s.feeds.all() {
		s.detach(f.cursor.ID())
	}
	return s.close()
}

// end ends the work in the background on a sack. It gets no more sources.
func (p *Metricd) end(s *sack) {
	p.changing.Lock()
	s.background.stop()
	p.changing.Unlock()
	s.background.checkpoints.Wait()
}

// Abandon ends the work on a sack whose store is damaged, and closes the store as it is. The heads' measures are not
// written down: the incoming stores have them. open is false if the sack is not held.
func (p *Metricd) Abandon(number int) (open bool, err error) {
	p.moving[number].Lock()
	defer p.moving[number].Unlock()
	s := p.sacks[number].Load()
	if s == nil {
		return false, nil
	}
	p.sacks[number].Store(nil)
	p.end(s)
	for _, f := range s.feeds.all() {
		s.detach(f.cursor.ID())
	}
	return true, s.close()
}

// Held returns the numbers of the sacks that are open.
func (p *Metricd) Held() []int {
	var numbers []int
	for _, s := range p.open() {
		numbers = append(numbers, s.number)
	}
	return numbers
}

// Attach takes measures from a source, for all sacks. One with the same ID is replaced.
func (p *Metricd) Attach(source Source) error {
	id := source.ID()
	p.Detach(id)
	p.changing.Lock()
	defer p.changing.Unlock()
	p.sources[id] = source
	for _, s := range p.open() {
		err := s.attach(source)
		if pebble.IsCorruptionError(err) && p.options.Damaged != nil {
			s.damaged(err) // the other sacks take from the source
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Detach stops to take measures from a source. When it returns, nothing is drained from it.
func (p *Metricd) Detach(id string) {
	p.changing.Lock()
	defer p.changing.Unlock()
	if _, ok := p.sources[id]; !ok {
		return
	}
	delete(p.sources, id)
	for _, s := range p.open() {
		s.detach(id)
	}
}

// looks is how often in an interval a sack is looked at, and checkpointed if that pays by now.
const looks = 6

// checkpointLoop checkpoints a sack from time to time. Sacks take turns: their checkpoints, each an fsync, spread over
// the time between two looks.
func (p *Metricd) checkpointLoop(s *sack) {
	pause := p.options.CheckpointInterval / looks
	tick := time.NewTimer(pause * time.Duration(s.number+1) / time.Duration(len(p.sacks)))
	defer tick.Stop()
	for looked := 1; ; looked++ {
		select {
		case <-s.background.ctx.Done():
			return
		case <-tick.C:
			tick.Reset(pause)
			if looked == looks || s.heads.HasEnough() {
				p.inSlot(s.background.ctx, s, (*sack).checkpoint)
				looked = 0
			}
		}
	}
}
