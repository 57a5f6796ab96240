package cluster

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/google/uuid"
	"golang.org/x/sync/semaphore"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cluster/peer"
	"github.com/gnocco-db/gnocco/metricd/latetypes"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
)

// SharedIndex is the index wherever it is: the workers and the API use it without knowing its holder.
type SharedIndex struct {
	local  atomic.Pointer[localIndex] // nil while another process holds it
	remote *peer.Index
}

// localIndex is the index while this process holds it.
type localIndex struct {
	*index.Store
	epoch uint64
	users *semaphore.Weighted // one for each request under way, allUsers for closing the store

	logger *slog.Logger
}

const allUsers = 1 << 32

// release ends a use.
func (l *localIndex) release() { l.users.Release(1) }

// use returns the index for one request, which calls release; nil while another process holds it, or is about to.
func (x *SharedIndex) use() *localIndex {
	if local := x.local.Load(); local != nil && local.users.TryAcquire(1) {
		return local
	}
	return nil
}

// Use keeps the index in this process until release is called. It returns nil while another process holds the index, or
// is about to.
func (x *SharedIndex) Use() (release func()) {
	if local := x.use(); local != nil {
		return local.release
	}
	return nil
}

// remoteGeneration marks the generations of another process's index, to keep them apart from those of our own.
const remoteGeneration = 1 << 63

// Generation implements metricd.Index.
func (x *SharedIndex) Generation() uint64 {
	if local := x.local.Load(); local != nil {
		return local.epoch<<40 ^ local.Store.Generation()
	}
	return x.remote.Generation() | remoteGeneration
}

// heldVersion returns the version of the index while this process holds it.
func (x *SharedIndex) heldVersion() (epoch, generation uint64, ok bool) {
	if local := x.local.Load(); local != nil {
		return local.epoch, local.Store.Generation(), true
	}
	return 0, 0, false
}

// Find implements metricd.Index and api.Metrics.
func (x *SharedIndex) Find(ctx context.Context, ids []uuid.UUID, found []*model.Metric) error {
	if local := x.use(); local != nil {
		defer local.release()
		return local.Find(ctx, ids, found)
	}
	return x.remote.Find(ctx, ids, found)
}

func (x *SharedIndex) Revive(ctx context.Context, newest map[uuid.UUID]carbonara.Timestamp,
	at carbonara.Timestamp) error {
	if local := x.use(); local != nil {
		defer local.release()
		return local.Revive(ctx, newest, at)
	}
	return x.remote.Revive(ctx, newest, at)
}

func (x *SharedIndex) Growing(ctx context.Context, ids []uuid.UUID) error {
	if local := x.use(); local != nil {
		defer local.release()
		return latetypes.Growing(ctx, local.Store, ids, local.logger)
	}
	return x.remote.Growing(ctx, ids)
}

func (x *SharedIndex) DeletedMetrics(ctx context.Context, limit int) ([]uuid.UUID, error) {
	if local := x.use(); local != nil {
		defer local.release()
		return local.DeletedMetrics(ctx, limit)
	}
	return x.remote.DeletedMetrics(ctx, limit)
}

func (x *SharedIndex) Expunge(ctx context.Context, ids ...uuid.UUID) error {
	if local := x.use(); local != nil {
		defer local.release()
		return local.Expunge(ctx, ids...)
	}
	return x.remote.Expunge(ctx, ids...)
}

// Push has the process that holds the index store a batch of series, as its Handlers.Push does.
func (x *SharedIndex) Push(ctx context.Context, creator, protocol string, batch []byte) error {
	return x.remote.Push(ctx, creator, protocol, batch)
}
