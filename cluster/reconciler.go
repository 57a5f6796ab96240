package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/cluster/peer"
	"github.com/gnocco-db/gnocco/internal/diskprobe"
	"github.com/gnocco-db/gnocco/internal/pause"
	"github.com/gnocco-db/gnocco/internal/repeated"
	"github.com/gnocco-db/gnocco/metricd"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/claim"
)

// reconcileInterval is how often a process reconciles if nothing wakes it before.
const reconcileInterval = time.Second

// reconciler takes and gives back stores until this process holds its share.
type reconciler struct {
	role   Role
	sacks  int
	folder *datafolder.Folder
	logger *slog.Logger

	members   *membership
	clocks    *clocks
	ownership *ownership
	damaged   *damagedStores
	holders   *holders

	index    *indexReconciler
	incoming *incomingStores
	workers  *workers // nil for role api

	leave func() // ends taking stores; nil while none are taken

	byFiles bool // members know each other by files on a disk of several machines
	crowd   int  // members in the last warning of too many
}

// workers work on the sacks that this process holds.
type workers struct {
	metricd *metricd.Metricd
	sacks   *sackReconciler
	sources *sources
}

// start reconciles in the background until leave. The index is taken apart from the rest: all of the cluster's
// metadata waits for it, and the rest may take long.
func (r *reconciler) start() {
	ctx, stop := context.WithCancel(context.Background())
	var loops sync.WaitGroup
	if r.role.HasAPI() {
		loops.Go(func() { r.until(ctx, r.members.woken[0], r.index.reconcile) })
	}
	loops.Go(func() { r.until(ctx, r.members.woken[1], r.rest) })
	r.leave = func() {
		stop()
		loops.Wait()
	}
}

// handOver ends taking stores, and announces to the others that this process leaves. It gives them the sacks and the
// index as far as there is somebody to take them, while this process goes on to answer. The rest is for Close.
func (r *reconciler) handOver(ctx context.Context) error {
	if r.leave == nil {
		return nil
	}
	r.leave()
	r.leave = nil
	r.members.noteLeaving(r.members.own())
	r.members.tellOthers(ctx, &peer.Notice{Leaving: r.members.own()}, everyone)
	others, err := r.members.staying(ctx)
	errs := []error{err}
	if r.workers != nil && len(withRole(others, RoleMetricd)) > 0 {
		errs = append(errs, r.workers.sacks.handOver(ctx))
	}
	if r.role.HasAPI() && len(withRole(others, RoleAPI)) > 0 {
		errs = append(errs, r.index.handOver(ctx))
	}
	return errors.Join(errs...)
}

// takeAll takes all sacks and incoming stores, until ctx ends. The lease of a process that was killed ends first.
func (r *reconciler) takeAll(ctx context.Context) error {
	r.leave()
	r.leave = nil
	for {
		err := r.reconcile(ctx)
		missing, listErr := r.notHeld()
		if err = errors.Join(err, listErr); err == nil && missing == "" {
			return nil
		}
		if end := pause.For(ctx, reconcileInterval); end != nil {
			return fmt.Errorf("cluster: %s is not free: %w", missing, errors.Join(end, err))
		}
	}
}

// notHeld returns the name of a store that this process does not hold, "" for none: measures get into the archives
// only with the index. Damaged ones do not count.
func (r *reconciler) notHeld() (string, error) {
	names, err := r.folder.IncomingNames()
	names = append(names, datafolder.IndexName)
	for sack := range r.sacks {
		names = append(names, datafolder.SackName(sack))
	}
	for _, name := range names {
		if _, held := r.ownership.holds(name); !held && r.damaged.of(name) == nil {
			return name, err
		}
	}
	return "", err
}

// until calls reconcile until ctx ends.
func (r *reconciler) until(ctx context.Context, woken <-chan struct{}, reconcile func(context.Context) error) {
	watch := r.members.session.Watch(ctx)
	failing := &repeated.Warning{Warn: r.logger.Warn, Message: "not all is held that should be; trying again"}
	tick := time.NewTicker(reconcileInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-watch:
			r.incoming.changed.Store(true)
			r.holders.forgetAnswers()
		case <-woken:
		case <-tick.C:
		}
		if err := reconcile(ctx); err == nil || ctx.Err() == nil && r.members.session.Valid() {
			failing.Note(err)
		}
	}
}

// reconcile compares the held stores with the share of this process, once, and takes or gives back the difference.
func (r *reconciler) reconcile(ctx context.Context) error {
	var err error
	if r.role.HasAPI() {
		err = r.index.reconcile(ctx)
	}
	return errors.Join(err, r.rest(ctx))
}

// rest is reconcile without the index.
func (r *reconciler) rest(ctx context.Context) error {
	members, err := r.members.staying(ctx)
	if err != nil {
		return err
	}
	if r.byFiles && len(members) > max(r.crowd, diskprobe.MaxByFiles) {
		r.crowd = len(members)
		r.logger.Warn("many processes know each other by files; beyond the limit use --coordination etcds://…",
			"processes", r.crowd, "limit", diskprobe.MaxByFiles)
	}
	errs := []error{r.ownership.giveBackRest(ctx)}
	if r.workers != nil {
		errs = append(errs, r.workers.sacks.reconcile(ctx, members))
	}
	errs = append(errs, r.incoming.reconcile(ctx, members))
	if r.workers != nil {
		errs = append(errs, r.workers.sources.reconcile(ctx, true), r.clocks.reconcile())
	}
	return errors.Join(errs...)
}

// tookNothing reports an error of taking a store, unless another process was faster, or the store is locked or damaged,
// which environment.open has logged.
func tookNothing(name string, err error) error {
	if err == nil || errors.Is(err, claim.ErrHeld) || model.IsDamaged(err) {
		return nil
	}
	return fmt.Errorf("cluster: take %s: %w", name, err)
}
