// Package operators has the handlers for the operators of a server and their balancers: probes, status, the process's
// metrics, backups, deletions and corrections, running queries and their costs, metrics without readers, silent senders
// and quotas. handlers.go has the routes.
package operators
