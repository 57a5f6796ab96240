package cluster

import (
	"context"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/engine"
)

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
	waiting := engine.RetryWhenFull(ctx, engine.WholeBlocks(engine.RewriteUnsynced(disk)), makeRoom)
	return engine.NewRecorder(claim.Fence(waiting, lease))
}
