package server

import (
	"context"
	"sync/atomic"

	"github.com/google/uuid"

	"gnocco/internal/peer"
	"gnocco/model"
	"gnocco/storage/index"
)

// sharedIndex is the index wherever it is: the workers and the API ask it without knowing who holds it.
type sharedIndex struct {
	local  atomic.Pointer[localIndex] // nil while another process holds it
	remote *peer.Index
}

// localIndex is the index while this process holds it.
type localIndex struct {
	*index.Store
	epoch uint64
}

// remoteGeneration tells generations that another process's index was seen at from those of our own.
const remoteGeneration = 1 << 63

// Generation implements metricd.Index.
func (x *sharedIndex) Generation() uint64 {
	if local := x.local.Load(); local != nil {
		return local.epoch<<40 ^ local.Store.Generation()
	}
	return x.remote.Generation() | remoteGeneration
}

// Find implements metricd.Index and api.Metrics.
func (x *sharedIndex) Find(ctx context.Context, ids []uuid.UUID, found []*model.Metric) error {
	if local := x.local.Load(); local != nil {
		return local.Find(ctx, ids, found)
	}
	return x.remote.Find(ctx, ids, found)
}

// DeletedMetrics implements metricd.Index.
func (x *sharedIndex) DeletedMetrics(ctx context.Context, limit int) ([]uuid.UUID, error) {
	if local := x.local.Load(); local != nil {
		return local.DeletedMetrics(ctx, limit)
	}
	return x.remote.DeletedMetrics(ctx, limit)
}

// Expunge implements metricd.Index.
func (x *sharedIndex) Expunge(ctx context.Context, ids ...uuid.UUID) error {
	if local := x.local.Load(); local != nil {
		return local.Expunge(ctx, ids...)
	}
	return x.remote.Expunge(ctx, ids...)
}
