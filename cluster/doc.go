// Package cluster is one process among several, or alone: it joins the members of a data folder, holds its share of the
// stores there, and knows the holders of the rest.
//
// A single process of both roles comes to hold all stores, and then nothing goes over the network: a call reaches them.
// So there is one way of doing things, for any number of processes.
//
// Open takes the folder, the port, the membership and the process's own incoming store, in this order. Run answers the
// other processes and reconciles: it compares the stores that the process holds with its share, and takes or gives back
// the difference. Close goes the other way, so that nothing is accepted which could not be processed. It gives the held
// stores back, closed in order.
//
// Start with process.go, which composes the parts. Each part has its file: membership.go knows the members,
// ownership.go the stores that this process holds, holders.go the holders of the rest. Files reconcile_*.go take and
// give back: one for each kind of store, one for the ways between them (sources), one for rebuilds. Requests see the
// whole cluster through router.go (archives) and shared_index.go. Package datafolder says which file lies where,
// package peer how processes talk.
//
// Locks. Most guard one map each and are held for no call outwards: membership.mu, ownership.mu, incomingStores.mu,
// holders.mu. sources.mu is held while sources come and go, which asks other processes; it is taken before ownership.mu
// and incomingStores.mu, never after. stale.mu is held while a snapshot is taken, and takes no other.
package cluster
