// Package heads holds the recent past of the metrics of a sack: a head per metric, with the measures that came since
// the last checkpoint and all that it takes to continue from there.
//
// # Problem
//
// A metric usually gets one measure at a time, and there are millions of metrics. To write the groups of each measure
// at once would rewrite the same groups for each, and to read a metric's archive for each measure would cost far more
// than the measure is worth.
//
// # Idea
//
// A head keeps measures in memory until the next checkpoint, which computes the groups of many metrics in one pass and
// writes them in one batch. The incoming store has the measures as well, so a head may be lost at any moment. Of the
// archive, a head remembers the newest measure and the open groups. Later measures are added to these without a read.
// Where a measure comes late, the checkpoint computes the touched groups again, from the raw series.
//
// Heads are bound in memory, with their measures. A checkpoint empties that. It drops heads that were not used, as long
// as the others would leave too little room for measures.
//
// # Invariants
//
//   - A head's measures are exactly those of incoming sequences after the mark in the store, up to the cursor's Read.
//   - One lock guards heads and everything that counts them. Only the worker of the sack changes them, so it may look
//     at a head that it has without the lock. The checkpoint holds the lock shared while it resamples: reads go on.
//   - For readers, a checkpoint changes the store and the heads together: view.Commit.
//   - A resampled group does not depend on how measures were batched: rules in package carbonara.
//
// Start with head.go, then heads.go (which methods the worker calls), batch.go (heads for the resampler) and
// checkpoint.go. docs/decisions/0009-heads.md says why the resampler runs at the checkpoint and at reads.
package heads
