// Package view answers the reads of a sack: groups of its metrics, raw measures, newest measures, sizes.
//
// # Problem
//
// A sack knows a metric in two places: the store has the splits and the raw series of the last checkpoint, the head has
// the measures since then. A checkpoint moves measures from one to the other, but not in one step: Pebble shows a
// commit before its sync returns, and heads change after it, because what is not durable must not leave memory. A read
// in between would count measures twice, or compute an older group from pending measures alone. To hold the lock of the
// heads during the sync would make every read wait for the disk.
//
// # Idea
//
// Reads go to a pinned state of the store, a snapshot. Commit is the only way to change the store. It commits without a
// lock, while reads still see the pinned state and the heads as they were. Then it takes the lock of the heads, changes
// them and pins the store anew. A read holds that lock shared from beginning to end. Thus it sees either both from
// before the checkpoint or both from after it: one version.
//
// # Recent groups
//
// A dashboard reads the same metrics again and again. Their recent groups are kept as an answer would have them. A read
// resamples only measures that came since the previous one. A checkpoint computes groups that the recent ones may lack,
// so Parts hands these over.
//
// # Invariants
//
//   - Every change of the store goes through Commit. Only the worker of the sack calls it.
//   - A read sees the store, the heads and thus recent groups at one version.
//   - Recent groups equal those that a read without them would compute.
//   - An answer does not depend on when a checkpoint was made: raw measures that a checkpoint would drop do not count.
//   - The lock of the heads is taken first, then that of some recent groups, then that of their cache.
//
// Start with view.go, then groups.go, raw.go and recent_groups.go. docs/decisions/0080-reads-at-one-version.md has the
// ways that were left, and figures; 0044-reads.md is about recent groups.
package view
