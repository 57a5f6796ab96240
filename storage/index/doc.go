// Package index is the store of what is known about metrics, not of their measures: archive policies and the rules
// that choose one, metrics, resource types, and resources with their history.
//
// A Store composes rooms, each of which imports only those behind it: search finds resources, metrics has the metrics,
// commits orders the writes, records has the values, keyspace the keys; docs/format/index.md draws both. The package
// itself keeps the definitions (archive policies, rules, resource types), changes resources, and starts rebuilds.
//
// On the path of measures in, Lookup turns a metric's ID into the metric; on the path out the rest answers requests for
// metadata. One Pebble store, held by one process. Read store.go first, then commits, then resources.go.
//
// The invariants:
//
//   - What a caller is told is durable: an answer, be it success, a conflict or something read, comes after the sync
//     of all it rests upon. So measures are never accepted for a metric that a crash takes back.
//   - What one call writes is there as a whole or not at all.
//   - Metrics and archive policies that are handed out are shared and never modified. Generation tells when what a held
//     one says may have changed; Lookup then has the new one.
//   - A resource's type exists. What it says applies to a resource when that is read: changing a type touches no
//     resource.
//   - Secondary keys are there for what is live, and no others; whatever way a query takes by them, what it finds is
//     what a look at everything would find.
//   - A metric's archive policy exists, also while the metric is marked deleted but not yet expunged.
package index
