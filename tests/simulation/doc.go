// Package simulation runs a whole cluster in one process, from one seed: two processes of the API and three of metricd
// on three machines, with a network, a shared disk and clocks that exist in memory only. The code is the product's own,
// in a bubble of testing/synctest, so that minutes pass within a second.
//
// Clients write, read, query, delete and change policies, while faults come and go (faults.go). Each client keeps a
// ledger of its own metrics (model.go) and resources (things.go), all keep one of the metrics that they share
// (shared.go), and each answer is compared with it:
//
//   - a refreshed read at any process shows every acknowledged measure, once;
//   - a group never shows more than was sent, and less than before only after a crash;
//   - a metric or resource is there until it is deleted, and then never again, and so are measures (takeout.go);
//   - a resource has its last acknowledged state, is found by it, and its history has all of them;
//   - in the end, each recorded cell of a rule is its expression over all measures (ruled.go);
//   - a healthy process answers in time;
//   - in the end all processes run, all metrics are read again, and fsck finds nothing.
//
// The bubble controls time, goroutines' order, the network, the disk, clocks and random numbers, by edits of Go's
// runtime for one build (build_test.go). Only one thing is left: objects lie now and then at other addresses, so that
// the order of a map with pointers as keys differs. A seed that fails fails again in most runs, not in all.
//
// Read world.go first, then process.go, mount.go and network.go.
package simulation
