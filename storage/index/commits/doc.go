// Package commits is the order in which the index is written: a write is checked against all earlier ones, enters the
// log, and is answered when it is durable.
//
// Every change of metrics and resources is a Change that Log.Write commits; policies and types go by WriteSynced. Reads
// use Log.DB and call WaitDurable before they answer. Read log.go first.
//
// Log.mu is held from the check of a write to its entry into the log, not through the sync, so that concurrent writes
// share one. It comes before every other lock of the index. Invariants:
//
//   - A caller learns only durable things: success, a conflict and a value read all wait for the sync of their cause.
//   - One Change is there as a whole or not at all, with the counts of metrics and resources.
//   - ChangesSince names every metric and resource that changed, or reports that it does not know.
package commits
