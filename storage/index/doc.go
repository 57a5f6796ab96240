// Package index is the store of what is known about metrics, not of their measures: archive policies and the rules
// that choose one, metrics, resource types, and resources with their history.
//
// On the path of measures in, Lookup turns a metric's ID into the metric, from a cache of bounded size; on the path
// out the rest of the package answers the metadata requests. One Pebble store, held by one process; package
// keyspace has its keys, package records its values, and docs/format/index.md draws both.
//
// Read store.go first: how a write is checked, committed and answered; then resource_query.go: how resources are found,
// by keys that follow from their values (records/resource_keys.go) and are written in the same batch. The invariants:
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
