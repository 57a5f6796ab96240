package metricd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/semaphore"

	"gnocco/carbonara"
	"gnocco/model"
)

// Metricd owns sacks and works on them until Close.
type Metricd struct {
	options            Options
	metrics            *metrics
	sacks              []*sack
	reader             *carbonara.CPUResampler // for the few measures of a head
	reads, checkpoints sync.Pool               // *batch, apart because of their sizes

	slots   *semaphore.Weighted // sacks worked on at a time
	stop    context.CancelFunc
	workers sync.WaitGroup
}

// New opens the sacks, replays what the incoming store has beyond their marks in the background, and starts the
// workers.
func New(options Options) (*Metricd, error) {
	options.EnsureDefaults()
	if err := options.Validate(); err != nil {
		return nil, err
	}
	p := &Metricd{
		options: options,
		reader:  carbonara.NewCPUResampler(1),
		slots:   semaphore.NewWeighted(int64(options.Workers)),
		sacks:   make([]*sack, options.Sacks),
	}
	p.reads.New = func() any { return new(batch) }
	p.checkpoints.New = p.reads.New
	p.metrics = newMetrics(options.Registerer, p)
	for i := range p.sacks {
		dir := filepath.Join(options.Dir, fmt.Sprintf("%03d", i), "e1")
		s, err := p.openSack(i, dir)
		if err != nil {
			return nil, errors.Join(err, p.closeStores())
		}
		p.sacks[i] = s
	}
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	for _, s := range p.sacks {
		p.workers.Go(func() { p.work(ctx, s) })
	}
	p.workers.Go(func() { p.expungeLoop(ctx) })
	return p, nil
}

func (p *Metricd) sackOf(metric uuid.UUID) *sack { return p.sacks[model.Sack(metric, len(p.sacks))] }

// work drains a sack when measures arrive and checkpoints it from time to time. A failure of the store ends neither:
// it is logged and tried again, since what was acknowledged is safe in the incoming store.
func (p *Metricd) work(ctx context.Context, s *sack) {
	// Sacks take turns: their checkpoints, each an fsync, spread over the interval.
	interval := p.options.CheckpointInterval
	tick := time.NewTimer(interval * time.Duration(s.number+1) / time.Duration(len(p.sacks)))
	defer tick.Stop()
	ready := p.options.Incoming.Ready(s.number)
	p.inSlot(ctx, s, (*sack).drain)
	for {
		select {
		case <-ctx.Done():
			return
		case <-ready:
			p.inSlot(ctx, s, (*sack).drain)
		case <-tick.C:
			tick.Reset(interval)
			p.inSlot(ctx, s, (*sack).checkpoint)
		}
	}
}

// retryDelay is the pause after a failure of a sack's store.
const retryDelay = time.Second

func (p *Metricd) inSlot(ctx context.Context, s *sack, step func(*sack, context.Context) error) {
	for {
		if p.slots.Acquire(ctx, 1) != nil {
			return
		}
		err := step(s, ctx)
		p.slots.Release(1)
		if err == nil || ctx.Err() != nil {
			return
		}
		p.metrics.failures.Inc()
		p.options.Logger.Error("sack failed; trying again", "sack", s.number, "error", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(retryDelay):
		}
	}
}

// Refresh makes all that was accepted for these metrics visible.
func (p *Metricd) Refresh(ctx context.Context, metrics []uuid.UUID) error {
	seen := make(map[*sack]bool)
	for _, id := range metrics {
		s := p.sackOf(id)
		if seen[s] {
			continue
		}
		seen[s] = true
		if err := s.drain(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Checkpoint drains and checkpoints every sack.
func (p *Metricd) Checkpoint(ctx context.Context) error {
	var errs []error
	for _, s := range p.sacks {
		errs = append(errs, s.drain(ctx), s.checkpoint(ctx))
	}
	return errors.Join(errs...)
}

// Compact checkpoints and then rewrites every store, as for measuring its size.
func (p *Metricd) Compact(ctx context.Context) error {
	if err := p.Checkpoint(ctx); err != nil {
		return err
	}
	for _, s := range p.sacks {
		if err := s.store.Compact(); err != nil {
			return err
		}
	}
	return nil
}

// Close stops the workers after the batch in hand, checkpoints until ctx ends, and closes the stores. What was not
// checkpointed is replayed at the next start.
func (p *Metricd) Close(ctx context.Context) error {
	p.stop()
	p.workers.Wait()
	err := p.Checkpoint(ctx)
	return errors.Join(err, p.closeStores())
}

func (p *Metricd) closeStores() error {
	var errs []error
	for _, s := range p.sacks {
		if s != nil {
			errs = append(errs, s.store.Close())
		}
	}
	return errors.Join(errs...)
}
