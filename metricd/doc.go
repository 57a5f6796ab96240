// Package metricd turns incoming measures into archives: the second half of a measure's way in, and the source of all
// reads.
//
// A Metricd owns sacks. Each sack has its store (package archive), and is composed of rooms:
//
//	sources → feed → intake.Judge → heads.Add → heads.Write → view.Commit → acknowledge
//	          drain  verdicts       memory      checkpoint    durable, then visible
//
// A worker drains the measures that an incoming store has for a sack into the heads, at once or, where little comes in,
// once a second. A read does not wait for it (gather.go). From then on a read sees the measures, because it resamples
// those of the head on top of the splits. A checkpoint resamples the heads of the sack, every granularity and column in
// one pass over the measures of many metrics, and commits splits, raw series and the consumed mark in one synced batch.
// Only then may the incoming store delete. After a crash the incoming store is replayed from the mark.
//
// After a change of policy, archives get their new schema one by one (Rebuild).
//
// The rooms, in the order in which a measure meets them:
//
//   - intake: in which order measures count, without a store
//   - heads: the recent past in memory, its bound, its lock, its checkpoint
//   - view: the groups and measures that a read sees, at one version
//   - rebuild: one archive brought into another schema
//
// The rooms do not know the sack. Start with sack.go (drain), then sack_checkpoint.go, then the doc.go of each room.
//
// Locks, in the order in which they are taken: one of Metricd.moving, Metricd.changing, feeds.catchingUp, sack.work,
// the lock of the heads. The goroutine that holds work is the sack's worker. It alone changes the intake, the heads and
// the store.
package metricd
