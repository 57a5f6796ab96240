// Command gnocco-bench measures Gnocco, and other servers that speak Gnocchi's REST API.
//
// Each subcommand has a file here that defines its flags. The benchmarks are in package bench and below it. It is a
// program of its own so that the server links neither other systems' formats nor anything else that only a comparison
// needs.
package main
