// Package report writes results as lines in the format of Go's benchmarks, which benchstat reads.
package report
