// Package connections keeps those who connect from holding a process: a Limiter bounds a listener's open connections,
// so that they cannot use up the process's descriptors. A Server ends without waiting for clients that keep a
// connection in store. Clients come through one of each, the other processes of the cluster through another.
package connections
