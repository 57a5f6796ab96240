// Package intake judges in which order measures count. It is pure: records go in, verdicts come out. It reads no disk,
// asks no clock and starts no goroutine. A sack drains its sources, asks an Intake and the Judge of each metric for
// verdicts, and puts the measures that count into its heads.
//
// # Problem
//
// A metric accepts late measures for its back window only. With one incoming store the rule is easy: the records of the
// store have an order, and each measure is judged by the newest one before it. With several stores, one per process
// that accepts measures, a sack drains them side by side. It may see the measure of Monday from a busy store after the
// measure of Tuesday from an idle one, although the client sent them in order. Judged in the order of draining, Monday
// would be too old, and a client would lose a measure that was answered with 202 before the newer one was sent. Which
// measures are lost would depend on the load of the stores.
//
// # Idea
//
// Every record has a stamp: a moment between the arrival of the request and its 202, on the clock of the process that
// accepted it. If clocks agreed, the order of stamps would be the order of sending. Clocks differ, but the cluster
// measures by how much. So for two records there are three answers: before, after, in doubt. In doubt a measure is
// accepted.
//
// Stamps alone let a sack judge by the records it has seen. It also has to know when others may come: while some store
// may still bring an earlier record, raw measures that such a record needs must stay. Every store therefore reports its
// frontier, a stamp that all its further records exceed. A measure is settled once the frontiers of all other stores
// have passed its stamp by more than both clocks' errors. Settled measures move the start of the raw series forward;
// unsettled ones are kept by request, as runs, in memory and in the archive.
//
// # Rules
//
//   - A measure is judged by the earlier measures of its own store, and by those of other stores whose stamps are
//     earlier by more than both clocks' errors.
//   - The raw series keeps what the settled measures' back window needs, so that every measure that may still be
//     accepted can be computed.
//   - Of equal timestamps the later stamp wins; of equal stamps the store with the greater identity wins.
//   - With one store everything is settled at once.
//   - A measure ahead of its request's clock makes nothing too old (ahead.go).
//
// # Invariants
//
//   - Verdicts do not depend on how the stores are drained, except in doubt, where they accept more.
//   - A measure is never too old because of a measure that was sent after its 202.
//   - A Judge that is made from an archive gives the same verdicts as the one that wrote it.
//   - An Intake belongs to one sack and is used by one goroutine at a time. Cursor.Read alone may be called by any.
//
// Start with intake.go (stores), then judge.go (verdicts, and what a metric remembers) and order_across_stores.go.
// Pauses says how long a sack with little traffic waits before it drains. docs/decisions/0035-order.md has the figures.
package intake
