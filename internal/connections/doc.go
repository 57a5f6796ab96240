// Package connections keeps those who connect from holding a process: a Limiter bounds how many connections a listener
// has open, so that they cannot use up the process's descriptors, and a Server ends without waiting for clients that
// keep a connection in store. Clients come through one of each, the other processes of the cluster through another.
package connections
