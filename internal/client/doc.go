// Package client speaks the REST API as any other client would. The demo, the import of files and the benchmarks use it;
// it knows nothing of the server's packages, so that it works against any Gnocchi.
package client
