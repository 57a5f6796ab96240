package server

import (
	"context"
	"errors"

	"gnocco/storage/claim"
	"gnocco/storage/index"
)

// keepIndex takes the index if nobody has it. Who has it keeps it: it is not handed over, since all of its holder's caches
// would be lost.
func (n *node) keepIndex(ctx context.Context) error {
	if n.index.local.Load() != nil {
		return nil
	}
	holder, err := n.session.Holder(ctx, indexName)
	if err != nil || holder.Live() {
		return err
	}
	dir, err := n.claims.take(ctx, indexName)
	if err != nil {
		return tookNothing(indexName, err)
	}
	store, err := index.Open(dir, index.Options{
		FS: n.claims.fs, Cache: n.cache, FileCache: n.files, CachedMetrics: n.memory.lookups, SkipDefaults: n.options.SkipDefaultPolicies,
		Logger: n.options.Logger, Registerer: n.registry, Collector: n.collector, Fail: n.fail,
	})
	if err != nil {
		return errors.Join(err, n.claims.giveBack(ctx, indexName))
	}
	epoch, _ := n.claims.holds(indexName)
	local := &localIndex{store, epoch}
	if err := n.took(local); err != nil {
		return errors.Join(err, store.Close(), n.claims.giveBack(ctx, indexName))
	}
	n.index.local.Store(local)
	n.reaggregating = n.startReaggregating(local)
	n.logger.Info("holding the index", "epoch", epoch)
	return nil
}

// closeIndex closes the index, if this process has it, and lets others take it.
func (n *node) closeIndex(ctx context.Context) error {
	local := n.index.local.Load()
	if local == nil {
		return nil
	}
	n.reaggregating.close()
	if err := local.Close(); err != nil {
		return err // others have it when this process is gone
	}
	err := n.claims.giveBack(ctx, indexName)
	n.wakeOthers(ctx, func(m *claim.Member) bool { return m.HasRole(string(RoleAPI)) })
	return err
}
