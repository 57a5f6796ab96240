// Package client speaks the REST API as any other client would. The demo and the commands that ask a server use it:
// import, correlate, rebuild. It knows nothing of the server's packages, so that it works against any Gnocchi. The
// benchmarks have a client of their own, which only sends bytes: they would also measure this one's work.
package client
