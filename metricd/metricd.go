package metricd

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/metricd/heads"
	"github.com/gnocco-db/gnocco/metricd/intake"
	"github.com/gnocco-db/gnocco/metricd/rebuild"
	"github.com/gnocco-db/gnocco/metricd/view"
	"github.com/gnocco-db/gnocco/model"
)

// Metricd owns sacks and works on them until Close. Which ones may change at any time: Open, CloseSack.
type Metricd struct {
	options     Options
	instruments *instruments
	reader      *carbonara.CPUResampler // for the few measures of a head
	resamplers  heads.Resamplers
	memory      *view.Memory
	checkpoints sync.Pool                   // *heads.Batch
	rebuilds    sync.Pool                   // *rebuild.Batch
	spare       atomic.Pointer[heads.Batch] // of checkpoints; see takeBatch

	slots   *semaphore.Weighted // sacks worked on at a time
	stop    context.CancelFunc
	workers sync.WaitGroup

	sacks  []atomic.Pointer[sack] // nil for those that are not held
	moving []sync.Mutex           // by sack; held while it is opened or closed; taken before changing

	known atomic.Pointer[intake.Sources] // nil: as if there were only one

	changing sync.Mutex // held while sources come and go, or an open sack comes; taken before a sack's locks
	sources  map[string]Source
}

// New returns a Metricd that holds no sacks yet.
func New(options Options) (*Metricd, error) {
	options.EnsureDefaults()
	if err := options.Validate(); err != nil {
		return nil, err
	}
	p := &Metricd{
		options: options,
		reader:  carbonara.NewCPUResampler(1),
		slots:   semaphore.NewWeighted(int64(options.Workers)),
		sacks:   make([]atomic.Pointer[sack], options.Sacks),
		moving:  make([]sync.Mutex, options.Sacks),
		sources: make(map[string]Source),
	}
	p.known.Store(options.Sources)
	p.resamplers = heads.Resamplers{Many: options.Resampler, Few: p.reader, BatchMeasures: options.BatchMeasures}
	p.memory = view.NewMemory(p.reader)
	p.checkpoints.New = func() any { return new(heads.Batch) }
	p.rebuilds.New = func() any { return new(rebuild.Batch) }
	p.instruments = newInstruments(options.Registerer, p)
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	p.workers.Go(func() { p.expungeLoop(ctx) })
	return p, nil
}

// sackOf returns the sack of a metric, or an ErrNotOwned.
func (p *Metricd) sackOf(metric uuid.UUID) (*sack, error) {
	number := p.Sack(metric)
	if s := p.sacks[number].Load(); s != nil {
		return s, nil
	}
	return nil, notOwned(number)
}

// Processed returns how many measures have come into heads since New.
func (p *Metricd) Processed() int64 { return p.instruments.processed.Load() }

// Sack returns the number of a metric's sack.
func (p *Metricd) Sack(metric uuid.UUID) int { return model.Sack(metric, len(p.sacks)) }

// open returns the sacks that are held.
func (p *Metricd) open() []*sack {
	var held []*sack
	for i := range p.sacks {
		if s := p.sacks[i].Load(); s != nil {
			held = append(held, s)
		}
	}
	return held
}

// inSlot runs a step of a sack's work when it is its turn. A failure of the store ends nothing: it is logged, once, and
// tried again, since what was acknowledged is safe in the incoming store. Damage of the sack's store ends the work.
func (p *Metricd) inSlot(ctx context.Context, s *sack, step func(*sack, context.Context) error) {
	told := ""
	for {
		if p.slots.Acquire(ctx, 1) != nil {
			return
		}
		err := step(s, ctx)
		p.slots.Release(1)
		if err == nil || ctx.Err() != nil {
			return
		}
		p.instruments.failures.Inc()
		if pebble.IsCorruptionError(err) && p.options.Damaged != nil {
			s.damaged(err)
			return
		}
		if text := err.Error(); text != told {
			told = text
			p.options.Logger.Error("sack failed; trying again", "sack", s.number, "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(retryDelay):
		}
	}
}

// retryDelay is the pause after a failure of a sack's store, or of a store or index that it needs.
const retryDelay = time.Second

// Refresh makes all that was accepted for these metrics visible. Their sacks must be held.
func (p *Metricd) Refresh(ctx context.Context, metrics []uuid.UUID) error {
	seen := make(map[*sack]bool)
	for _, id := range metrics {
		s, err := p.sackOf(id)
		if err != nil {
			return err
		}
		if seen[s] {
			continue
		}
		seen[s] = true
		if err := s.refresh(ctx); err != nil {
			return s.error(err)
		}
	}
	return nil
}

// Checkpoint drains and checkpoints every sack that is held, as many at a time as there are workers.
func (p *Metricd) Checkpoint(ctx context.Context) error {
	held := p.open()
	errs := make([]error, len(held))
	var away atomic.Bool // the incoming store does not answer: the next sack would also wait for it
	var all errgroup.Group
	all.SetLimit(p.options.Workers)
	for i, s := range held {
		all.Go(func() error {
			if !away.Load() {
				errs[i] = s.drain(ctx)
				if errors.Is(errs[i], model.ErrUnavailable) {
					away.Store(true)
				}
			}
			errs[i] = errors.Join(errs[i], s.checkpoint(ctx))
			return nil
		})
	}
	_ = all.Wait() // errs has all of them
	return errors.Join(errs...)
}

// Finish is a last Checkpoint: it stops the workers after the request in hand, so that ctx alone bounds the rest.
func (p *Metricd) Finish(ctx context.Context) error {
	for _, s := range p.open() {
		for _, f := range s.feeds.all() {
			f.stop()
		}
	}
	return p.Checkpoint(ctx)
}

// Compact checkpoints and then rewrites every store, as for measuring its size.
func (p *Metricd) Compact(ctx context.Context) error {
	if err := p.Checkpoint(ctx); err != nil {
		return err
	}
	for _, s := range p.open() {
		if err := s.store.Compact(); err != nil {
			return err
		}
	}
	return nil
}

// Close stops the workers after the request in hand, drains and checkpoints until ctx ends, and closes the stores. The
// next start replays the rest.
func (p *Metricd) Close(ctx context.Context) error {
	p.stop()
	p.workers.Wait()
	errs := []error{p.Finish(ctx)}
	for i := range p.sacks {
		errs = append(errs, p.CloseSack(ctx, i))
	}
	return errors.Join(errs...)
}
