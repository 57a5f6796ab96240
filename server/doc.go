// Package server wires one process: it hands the cluster, the workers' options, the REST API and the other listeners to
// each other, and starts and stops them in order. It has several users: the commands serve, api, metricd and demo, and
// tests.
//
// Start takes the public port, opens the cluster's process, and listens to the public last. Close stops in the reverse
// order, so that no accepted measure is left unprocessed.
//
// Start here: server.go, then public.go.
package server
