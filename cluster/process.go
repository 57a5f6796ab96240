package cluster

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/cluster/peer"
	"github.com/gnocco-db/gnocco/internal/closers"
	"github.com/gnocco-db/gnocco/internal/fulldisk"
	"github.com/gnocco-db/gnocco/internal/reach"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/storage/index"
)

// Process is one process among several: a member of the cluster, which holds some stores and knows the holders of the
// others. It composes the parts below, and opens, reconciles and closes them in order.
type Process struct {
	options     Options
	logger      *slog.Logger
	opened      time.Time
	closers     closers.Stack
	failWaiting func() // makes writes that wait for room on the disk fail; nil until there are any

	folder  *datafolder.Folder
	cluster datafolder.ClusterFile
	reserve *fulldisk.ReserveFile

	members   *membership
	clocks    *clocks
	ownership *ownership
	holders   *holders
	damaged   *damagedStores
	missing   missing
	reach     reach.Reach
	peers     *peerServer

	index      *indexReconciler
	incoming   *incomingStores
	workers    *workers // nil for role api
	reconciler *reconciler
	fencing    *fencing
	archives   *Router
	resampler  carbonara.Resampler // nil: the CPU's
}

// Handlers are the calls of the cluster to a process that answers requests. Zero is for a process that answers none.
type Handlers struct {
	// TakeIndex is called with the index when this process has come to hold it.
	TakeIndex func(*index.Store) error
	// GiveIndex is called before this process gives the index to another one.
	GiveIndex func(context.Context) error
	// API answers requests that other processes pass on. It is called while this process holds the index.
	API http.Handler
	// Push stores a batch of series from a sender of another process. It is called while this process holds the index.
	Push func(ctx context.Context, creator, protocol string, batch []byte) error
	// Failed is called, twice at most, when the process has stopped working for the cluster by itself: the error is an
	// ErrFenced, or a datafolder.ErrRefused if the data folder is gone.
	Failed func(error)
}

// ensureDefaults fills in what is not set.
func (h *Handlers) ensureDefaults() {
	if h.TakeIndex == nil {
		h.TakeIndex = func(*index.Store) error { return nil }
	}
	if h.GiveIndex == nil {
		h.GiveIndex = func(context.Context) error { return nil }
	}
	if h.Failed == nil {
		h.Failed = func(error) {}
	}
}

// Run answers the other processes, takes the stores of its share, wakes the others, and reconciles until HandOver.
// After an error, Close is still due.
func (p *Process) Run(ctx context.Context, handlers Handlers) error {
	handlers.ensureDefaults()
	p.index.taken, p.index.given = handlers.TakeIndex, handlers.GiveIndex
	p.peers.serve(p.Fence(p.answers(&handlers).Handler()), &p.closers, handlers.Failed)
	claims := p.options.claimOptions()
	if err := p.members.refuseLoopback(ctx, 2*claims.Grace()); err != nil {
		return err
	}
	if err := p.members.refuseNamesake(ctx); err != nil {
		return err
	}
	if p.options.Role.HasAPI() { // after that: several processes that start at once wait for each other
		if err := p.members.announce(ctx, p.incoming.ownName); err != nil {
			return err
		}
	}
	if w := p.workers; w != nil {
		p.closers.Add("sources", func(context.Context) error { w.sources.close(); return nil })
		p.closers.Add("sacks", w.sacks.close)
		w.sacks.takes.Store(true)
	}
	if err := p.reconciler.reconcile(ctx); errors.Is(err, peer.ErrUnreachable) {
		// A process that hangs must not keep others from starting: it answers later, or it is dead before long.
		p.logger.Warn("not all is held that should be; trying again", "error", err)
	} else if errors.Is(err, claim.ErrLost) { // the disk was slow
		return p.fencing.why()
	} else if err != nil {
		return err
	}
	p.members.wakeOthers(ctx, everyone)
	p.reconciler.start()
	background, stop := context.WithCancel(context.Background())
	var loops sync.WaitGroup
	reserved := make(chan struct{})
	p.closers.Add("loops", func(context.Context) error {
		stop()
		loops.Wait()
		select { // a disk that hangs does not keep the process from ending
		case <-reserved:
		case <-time.After(time.Second):
		}
		return nil
	})
	go func() { p.reserve.Reconcile(background); close(reserved) }()
	go p.fencing.watch(background, p.options.claimOptions().Beat)
	loops.Go(func() {
		ticks := time.NewTicker(engine.UpkeepInterval)
		defer ticks.Stop()
		p.index.environment.collector.Upkeep(background, ticks.C)
	})
	loops.Go(func() { p.index.shared.remote.Run(background, p.index.shared.heldVersion) })
	loops.Go(func() {
		select {
		case <-background.Done():
		case <-p.members.session.Done():
			handlers.Failed(p.fencing.why())
		}
	})
	p.closers.Add("hand-over", p.HandOver) // unless it was called before
	return nil
}

// FailWaitingWrites makes writes that wait for room on the disk fail.
func (p *Process) FailWaitingWrites() {
	if p.failWaiting != nil {
		p.failWaiting()
	}
}

// HandOver ends taking stores, and announces to the others that this process leaves. It gives them the sacks and the
// index as far as there is somebody to take them, while this process goes on to answer. The rest is for Close.
func (p *Process) HandOver(ctx context.Context) error { return p.reconciler.handOver(ctx) }

// TakeAll takes all sacks and incoming stores, until ctx ends. The lease of a process that was killed ends first.
func (p *Process) TakeAll(ctx context.Context) error { return p.reconciler.takeAll(ctx) }

// Close brings all accepted measures into the archives, until ctx ends, closes the stores, and lets others take them.
// Parts close in the reverse order of opening.
func (p *Process) Close(ctx context.Context) error { return p.closers.Close(ctx) }

// Sacks returns the number of sacks.
func (p *Process) Sacks() int { return p.cluster.Sacks }

// Folder returns the path of the data folder.
func (p *Process) Folder() string { return p.folder.Path }

// Member returns this process as the others know it.
func (p *Process) Member() claim.Member { return p.members.session.Member() }

// Secret returns 32 bytes for a purpose, the same in all processes of the cluster.
func (p *Process) Secret(purpose string) []byte { return p.peers.key.Derive(purpose) }

// Index returns the index, wherever it is.
func (p *Process) Index() *SharedIndex { return p.index.shared }

// Incoming returns the store that this process accepts measures in, nil for role metricd.
func (p *Process) Incoming() *incoming.Store { return p.incoming.own }

// Archives returns the sacks of the whole cluster.
func (p *Process) Archives() *Router { return p.archives }

// Resampler returns the resampler of the workers, nil for the CPU's.
func (p *Process) Resampler() carbonara.Resampler { return p.resampler }

// askIndexHolder is a peer.AskHolder.
func (p *Process) askIndexHolder(ctx context.Context, patient bool, there func(address string) error) error {
	if patient {
		return p.holders.ask(ctx, datafolder.IndexName, there)
	}
	return p.holders.askOnce(ctx, datafolder.IndexName, there)
}

// Forward returns a handler that passes requests on to the holder of the index. refuse answers a request that cannot be
// passed on.
func (p *Process) Forward(refuse func(http.ResponseWriter, *http.Request, error)) http.Handler {
	return p.members.client.Forward(p.askIndexHolder, func(w http.ResponseWriter, r *http.Request, err error) {
		p.logger.Debug("request not passed on", "path", r.URL.Path, "error", err)
		refuse(w, r, err)
	})
}
