// Package metricd turns incoming measures into archives: the second half of a measure's way in, and the source of
// what is read.
//
// A Metricd owns sacks. Each sack has its store (package archive) and, in memory, a head per metric: the measures
// accepted since the last checkpoint and what it takes to continue from there. A worker drains what the incoming store
// has for a sack into the heads, at once or, where little comes in, once a second; a read does not wait for it
// (gather.go). From then on a read sees it, because it resamples the head's measures on top of the splits. A metric
// that is read again and again keeps its recent groups (recent_groups.go): such a read touches no store. A checkpoint
// resamples the heads of the sack, every granularity and column in one pass over the measures of many metrics, and
// commits splits, raw series and the consumed mark in one synced batch. Only then may the incoming store
// delete. After a crash the incoming store is replayed from the mark.
//
// After a change of policy, archives get their new schema one by one (Rebuild; package rebuild defines schema).
//
// Start with sack.go (drain), then package heads, sack_checkpoint.go and read_groups.go.
//
// Invariants:
//   - A read sees the store and the heads, and thus recent groups, at one version. Pebble shows a commit before its
//     sync returns, while heads change after it. A read in between would find the raw series trimmed by a checkpoint
//     whose measures the heads still hold, and compute older groups from those alone. So reads go to a pinned state of
//     the store, and sack.commit moves it forward under the lock under which the heads change. Every change of the
//     store goes through sack.commit.
//   - work is taken first: whoever holds it is the sack's worker, and alone may change the intake, the heads and the
//     store. The lock of the heads is taken after it.
//
// Late measures: package intake. Retention: heads/expiry.go, and storage/archive/expiry.go.
package metricd
