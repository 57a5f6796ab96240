// Package correlations correlates the aggregates of stored metrics: it reads them into columns of the same groups, runs
// jobs in the background, and groups metrics of which one is enough.
//
// It stands on package query, which reads, and package correlate, which computes. Package api shows the jobs.
//
// Read request.go first, then jobs.go. The invariants:
//
//   - A job holds its values in memory and reads no store after it has started; few jobs are unfinished at a time.
//   - A job is visible to its owner only.
package correlations
