package cluster

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/gnocco-db/gnocco/backup"
	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/internal/pause"
	"github.com/gnocco-db/gnocco/storage/index"
)

// indexReconciler takes the index when nobody holds it.
type indexReconciler struct {
	environment *environment
	members     *membership
	logger      *slog.Logger
	shared      *SharedIndex
	archives    *Router // rebuilds go through it

	memTable      uint64
	cachedMetrics int
	skipDefaults  bool
	ages          ResourceAges
	taken         func(*index.Store) error    // called before requests reach the index here
	given         func(context.Context) error // called before the index is given to another process

	rebuilding   *rebuilding // while this process holds the index, as is the next
	resourceEnds *resourceEnds
	lastBackup   *backup.Last
}

// reconcile takes the index if nobody holds it. A live holder keeps it: handing it over would lose all of its caches.
func (r *indexReconciler) reconcile(ctx context.Context) error {
	if r.shared.local.Load() != nil {
		return nil
	}
	e := r.environment
	if e.damaged.of(datafolder.IndexName) != nil && !e.damaged.due(datafolder.IndexName) {
		return nil
	}
	if free, err := e.isFree(ctx, datafolder.IndexName); err != nil || !free {
		return err
	}
	var store *index.Store
	err := e.open(ctx, datafolder.IndexName, func(dir string) (err error) {
		store, err = index.Open(dir, index.Options{
			FS: e.ownership.fs, Cache: e.cache, FileCache: e.files,
			MemTableSize: r.memTable, CachedMetrics: r.cachedMetrics, SkipDefaults: r.skipDefaults,
			Logger: e.logger, Registerer: e.registerer, Collector: e.collector, Fail: e.fail,
		})
		return err
	})
	if err != nil {
		return tookNothing(datafolder.IndexName, err)
	}
	epoch, _ := e.ownership.holds(datafolder.IndexName)
	local := &localIndex{store, epoch, semaphore.NewWeighted(allUsers), r.logger}
	if err := r.taken(local.Store); err != nil {
		return errors.Join(err, store.Close(), e.ownership.giveBack(ctx, datafolder.IndexName))
	}
	r.shared.local.Store(local)
	r.rebuilding = startRebuilding(local, r.archives, r.logger)
	r.resourceEnds = startResourceEnds(r.ages, local.Store, r.archives, r.logger)
	r.lastBackup.Start()
	r.logger.Info("holding the index", "epoch", epoch)
	go r.members.tellTaken(ctx, datafolder.IndexName, -1, epoch)
	return nil
}

const (
	// handOverTries is how often a process that leaves tries to give the index to another one before it stops to
	// answer.
	handOverTries = 5
	// handOverPatience is how long a try waits for requests in hand. New ones wait meanwhile, here and elsewhere.
	handOverPatience = 500 * time.Millisecond
)

// handOver gives the index to another process, while this one goes on to answer. If requests in hand take too long,
// close gives it back.
func (r *indexReconciler) handOver(ctx context.Context) error {
	local := r.shared.local.Load()
	if local == nil {
		return nil
	}
	if err := r.given(ctx); err != nil {
		return err
	}
	for range handOverTries {
		patience, cancel := context.WithTimeout(ctx, handOverPatience)
		err := local.users.Acquire(patience, allUsers)
		cancel()
		if err == nil {
			return r.giveBack(ctx, local)
		}
		if err := pause.For(ctx, handOverPatience); err != nil {
			return err
		}
	}
	r.logger.Info("the index is kept until the end: requests that need it are under way")
	return nil
}

// close closes the index, if this process holds it, and lets others take it.
func (r *indexReconciler) close(ctx context.Context) error {
	local := r.shared.local.Load()
	if local == nil {
		return nil
	}
	return r.giveBack(ctx, local)
}

// giveBack closes the index, which nobody uses any more, and lets others take it.
func (r *indexReconciler) giveBack(ctx context.Context, local *localIndex) error {
	r.rebuilding.stop()
	r.resourceEnds.stop()
	r.lastBackup.Stop()
	if err := local.Close(); err != nil {
		return err // others can take it when this process is gone
	}
	r.shared.local.Store(nil)
	err := r.environment.ownership.giveBack(ctx, datafolder.IndexName)
	r.members.wakeOthers(ctx, hasRole(RoleAPI))
	return err
}
