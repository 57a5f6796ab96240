// Command gnocco-correlate correlates all pairs of columns of a CSV file.
//
// It is a program of its own, as no server is needed: package csv reads columns, correlate and gpu/correlate of the
// product correlate them, and cmd/gnocco-import/pairs writes pairs.
package main
