// Package columns evaluates the expressions of PromQL that dashboards ask most, over many series at once.
//
// # Problem
//
// Prometheus' engine goes through one sample after the other, on one goroutine, through four layers of iterators, and
// holds a result point for each series and time before an aggregation. Over ten thousand series it takes ten times as
// long as reading the samples.
//
// # Idea
//
// Most of a query's work is in its lowest subtrees, and these have one shape:
//
//	selector → function over its range → operations on each value → aggregation → operations on each value
//
// In the place of the selector another expression may stand, whose results are the series: an operator between two
// vectors, a function of all series (histogram_quantile, absent, label_replace), or the expression of a subquery.
// Such a subtree is a [Pipeline]. A row is what it makes of one series: a value at each time of the query. Rows do not
// depend on each other, so all cores compute them, each series in one pass over its samples ([Pipeline.Row]), or over
// raw measures as they lie ([RowOfMeasures]). A [Fold] aggregates rows in the order of the series, or chooses among
// them (topk, bottomk). The expression above a pipeline has few series, and the engine evaluates it.
//
// # Invariants
//
//   - The result has the bits of the engine's, with its order of series and its annotations. Rows are folded in the
//     order in which the engine would go through the series: sums depend on it.
//   - Functions without a loop here are the engine's own, called with the samples of a range as it would.
//   - The engine evaluates every expression that needs more than a pipeline: modifiers @, anchored and smoothed,
//     parameters that are not constant.
//
// The package knows no storage: package promql reads the samples.
package columns
