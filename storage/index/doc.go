// Package index is the store of metadata, not of measures: archive policies and the rules that choose one, metrics,
// resource types, and resources with their history.
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
//   - Answers are durable: success, conflicts and values read are returned after the sync of all they rest upon. So
//     measures are never accepted for a metric that a crash takes back.
//   - The writes of one call are there as a whole or not at all.
//   - Metrics and archive policies that are handed out are shared and never modified. Generation tells when what a held
//     one says may have changed; Lookup then has the new one.
//   - A resource's type exists. It applies to a resource when the resource is read: changing a type touches no
//     resource.
//   - Secondary keys are there for live records only. By any way through them, a query finds the same records as a scan
//     of everything.
//   - A metric's archive policy exists, also while the metric is marked deleted but not yet expunged.
package index
