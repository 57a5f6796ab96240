// Package server puts the parts together in one process: it holds a data folder, opens the stores in it, and serves the API.
// It is wiring that has several users (the serve and demo commands, benchmarks, tests); what is wired lives elsewhere.
//
//	DATA/
//	  lock                   held while a server runs
//	  cluster.json           number of sacks, format version; written once (cluster.go)
//	  node                   this node's random name
//	  index/                 storage/index
//	  incoming/<node>/       storage/incoming
//	  sacks/<nnn>/e1/        metricd, storage/archive
//
// Start opens in this order: lock, cluster.json, index, incoming, metricd, api, listener; Close stops in the reverse order, so
// that nothing is accepted which could not be processed. Start here: server.go.
package server
