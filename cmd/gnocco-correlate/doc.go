// Command gnocco-correlate correlates all pairs of columns of a CSV file.
//
// It is a program of its own so that the server links neither Parquet nor drawings: package csv reads columns,
// correlate and gpu/correlate of the product correlate them, correlate/pairs and parquet.go write pairs, and
// internal/pairplot draws them.
package main
