// Package query is what a read means: which groups of which metrics a question needs, and how they become an answer. It
// knows neither HTTP nor where archives lie.
//
// On the path of aggregates out it stands between the languages and the stores. A request becomes reads; [Archives] is
// the one interface by which they reach the sacks of the whole cluster, and package cluster implements it. Groups come
// back, package carbonara derives aggregates from their columns, and this package resamples, combines or selects them.
//
// Below it, package aggregates is the language of dynamic aggregates, and package correlations correlates metrics.
//
// Read read.go first, then archives.go. measures.go reads one metric, evaluate.go and read_many.go read many,
// combine.go reads exactly, history.go weighs what a resource was, policy_cost.go says what archives take. The
// invariants:
//
//   - An answer is fresh unless the request has a [Staleness], which then says how old the answer is.
//   - Errors are kinds of package model, or types with the fields that clients see: package api gives each its status.
package query
