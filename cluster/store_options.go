package cluster

import (
	"context"
	"errors"
	"log/slog"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/internal/closers"
	"github.com/gnocco-db/gnocco/internal/fulldisk"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/engine"
)

// environment is shared by all stores of a process: the ownership of their names, and the options that they are opened
// with.
type environment struct {
	ownership *ownership
	damaged   *damagedStores
	holders   *holders
	cache     *pebble.Cache
	files     *pebble.FileCache
	collector *engine.PebbleCollector

	logger     *slog.Logger
	registerer prometheus.Registerer
	fail       func(error) // ends the process when a store can't be used any more
}

const fileCacheShards = 8

// newEnvironment makes the caches, whose ends it adds to closers.
func newEnvironment(o *Options, owned *ownership, others *holders, lease claim.Lease,
	folder *datafolder.Folder, closers *closers.Stack) *environment {
	e := &environment{ownership: owned, damaged: others.damaged, holders: others,
		cache:     pebble.NewCache(o.Memory.BlockBytes),
		collector: engine.NewPebbleCollector(), logger: o.Logger, registerer: o.Registerer,
		fail: failure(lease, folder, o.Logger, o.Machine.Exit)}
	closers.Add("damaged stores", e.giveBackDamaged)
	closers.Add("block cache", func(context.Context) error { e.cache.Unref(); return nil })
	e.files = pebble.NewFileCache(fileCacheShards, o.OpenTables)
	closers.Add("file cache", func(context.Context) error { e.files.Unref(); return nil })
	return e
}

// isFree reports whether this process may take a store: no process holds it, or this one does, and tries again what was
// damaged. The damage of a store that another process holds is forgotten.
func (e *environment) isFree(ctx context.Context, name string) (bool, error) {
	if _, holds := e.ownership.holds(name); holds {
		return true, nil
	}
	holder, err := e.holders.lookup(ctx, name)
	if err != nil {
		return false, err
	}
	if holder.Live() {
		e.damaged.forget(name)
	}
	return !holder.Live(), nil
}

// open takes a store and calls open with its folder. A store that is damaged stays claimed, if it was: no other process
// tries in vain. One that is locked, or lacks what any store needs, is given back, since another machine may have it
// sooner. The error is a model.DamagedError in all cases, and the store is not due for a while.
func (e *environment) open(ctx context.Context, name string, open func(dir string) error) error {
	dir, err := e.ownership.claim(ctx, name)
	if err == nil {
		err = open(dir)
	}
	switch {
	case err == nil:
		e.ownership.opened(name)
		e.damaged.isWell(name)
		return nil
	case isDamage(err):
		return errors.Join(e.damaged.note(name, err), e.ownership.notOpened(name))
	case errors.Is(err, claim.ErrLocked), passing(err) != nil:
		err = e.damaged.note(name, err)
	}
	return errors.Join(err, e.ownership.giveBack(ctx, name))
}

// giveBackDamaged lets others try the stores that this process holds and does not serve.
func (e *environment) giveBackDamaged(ctx context.Context) error {
	var errs []error
	for _, store := range e.damaged.list() {
		if !store.Served {
			errs = append(errs, e.ownership.giveBack(ctx, store.Name))
		}
	}
	return errors.Join(errs...)
}

// failure returns the function that ends the process when a store can't be used any more.
func failure(lease claim.Lease, folder *datafolder.Folder, logger *slog.Logger, exit func(status int)) func(error) {
	return func(err error) {
		if refused := folder.Why(nil); refused != nil {
			logger.Error(refused.Error(), "error", err)
			exit(ExitRefusedFolder)
		}
		if !lease.Valid() {
			logger.Error(ErrFenced.Error(), "error", lease.Err())
			exit(ExitFenced)
		}
		engine.ExitOnFailure(logger, exit)(err)
	}
}

// storeFiles returns the file system of this process's stores, on the disk's. The order of its layers matters. From the
// top:
//
//   - engine.Open adds a layer to each store, which ends the process at errors that Pebble cannot bear. All layers
//     below it have done by then what they can.
//   - The recorder notes what is durable. A change that the fence refuses is never durable.
//   - The fence refuses changes once the lease is lost. It asks again after a sync, also one that waited for room.
//   - Where the disk is full, writes wait for room, until ctx ends, and ask makeRoom for it. A write that continues
//     begins where the layer below stopped.
//   - Old logs are written over in whole blocks. Only this layer counts the padding.
//   - Before a sync is repeated, all data that no sync has confirmed is written again.
func storeFiles(ctx context.Context, disk vfs.FS, lease claim.Lease, makeRoom func() bool) *engine.Recorder {
	waiting := fulldisk.RetryWhenFull(ctx, engine.WholeBlocks(engine.RewriteUnsynced(disk)), makeRoom)
	return engine.NewRecorder(claim.Fence(waiting, lease))
}
