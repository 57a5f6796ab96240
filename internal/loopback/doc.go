// Package loopback finds addresses of this machine for servers that tests and benchmarks start.
package loopback
