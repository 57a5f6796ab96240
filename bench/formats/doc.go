// Package formats measures the format of the archives beside others, in process: Gnocchi's, Prometheus' XOR chunks,
// zstd.
package formats
