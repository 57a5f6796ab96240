// Package latetypes moves series whose types came late to the archive policy of counters.
//
// # Problem
//
// A series gets its archive policy by the type that is known when it is created. Often the type comes later: Prometheus
// sends metadata a minute after the first samples, and some senders send none. Without increase and resets the history
// of a counter is lost once its measures have become groups.
//
// # Law
//
// A series is the same whether its type was known first or is learned later. It belongs to the policy of counters if
// nobody has set its type and it has the default policy of series, and its metadata or name says that it grows, or it
// has no type and the measures of its first checkpoint never fell, but for resets. The policy of counters has all that
// the other one has, so that a wrong guess costs bytes only. A gauge that is declared late stays: moving back would
// lose aggregates.
//
// # How
//
// The index itself tells which series have to move. Memory holds only the names to look at, and all names of metadata
// once an index was opened. A move writes a thousand metrics at a time, their schemas pending, and one rebuild is
// running until their archives have followed. Before the first checkpoint an archive is empty: its head follows, and
// nothing is rebuilt. Measures that are kept, and groups of one or two measures, tell increases exactly
// (docs/decisions/0107-what-groups-tell.md); PromQL warns of the others.
package latetypes
