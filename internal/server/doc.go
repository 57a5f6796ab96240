// Package server is one process of a cluster, which may have no other: it joins the members of a data folder, holds its share
// of what lies there, and answers requests. It is wiring that has several users (the commands serve, api, metricd and demo,
// benchmarks, tests); what is wired lives elsewhere.
//
//	DATA/
//	  lock                     shared by servers; a program that wants the folder for itself takes it alone
//	  cluster.json             number of sacks, format version; written once (cluster.go)
//	  key                      secret of the cluster's processes (package peer)
//	  members/, claims/        who takes part, and who holds what (package claim)
//	  index/e<epoch>/          storage/index; held by one process of role api
//	  incoming/<name>/e<epoch>/    storage/incoming; one for each process of role api, and those of dead ones until drained
//	  sacks/<nnn>/e<epoch>/    storage/archive; spread over the processes of role metricd
//
// A process of both roles, alone, comes to hold all of it, and then nothing goes over the network: what it holds is used by a
// call. So there is one way of doing things, whatever the number of processes.
//
// Start opens in this order: folder, ports, membership, own incoming store, peers' listener, then all that it should hold, and
// at last the public listener. Close stops in the reverse order, so that nothing is accepted which could not be processed, and
// gives back what was held, closed in order.
//
// Start here: server.go, then node.go and the four keep_*.go, one for each kind of store and for the ways between them.
// archives.go and shared_index.go are what requests see: the whole cluster's sacks, and the index wherever it is.
package server
