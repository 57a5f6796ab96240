// Package peer lets the processes of a cluster talk: one needs data that another holds. It has the handler that a
// process serves on a listener of its own, apart from the public API, and the clients: of an incoming store (Source),
// of the index (Index), of archives (Client.Groups, Ask).
//
// All requests are POSTs below /peer/ and carry the cluster's key, which lies in the data folder, readable to its owner
// only; a request without it learns nothing. The key allows everything, on any user's behalf.
//
//	/peer/poll      measures of an incoming store, for some sacks; waits until there are any, and takes acknowledgements
//	/peer/groups    groups of many metrics, in one answer
//	/peer/…         the operations on archives, as package cluster describes them (operation.go, archive_operations.go)
//	/peer/find      metrics by their ids
//	/peer/version   changes when an answer of find may have
//	/peer/deleted   metrics to expunge; /peer/expunge: expunged ones
//	/peer/revive    resources that ended, and got measures since
//	/peer/wake      members or claims have changed
//	/peer/status    the stores that a process holds, and their backlog
//	/peer/activity  the queries of a process; one of them may be ended
//	/peer/ping      nothing: a process that does not answer it is silent (pings.go)
//	/peer/api/…     a request of the public API, passed on to the holder of the index
//
// Answers are JSON, but for measures and groups: those are drawn in frames.go and groups.go. Errors arrive as their
// kinds (errors.go). Both ends are of the same release, or nearly: unknown fields are ignored, and no message is
// stored.
//
// Start with handler.go, then source.go.
package peer
