// Package aggregates parses and evaluates the operations of dynamic aggregates: arithmetic on series, and aggregation
// across them, at the moment of reading.
//
// On the path of aggregates out it stands between the archives and the answer. Package api parses the client's
// operation ([Parse]), reads the series of each of its References, and puts those of one granularity into a [Table].
// [Evaluate] returns a [Result], whose columns are computed when they are written.
//
// Read operation.go first (the tree), then alignment.go (how series share timestamps), then evaluate.go; combination.go
// and combine_groups.go are for exact combinations.
//
// # Meaning
//
// Gnocchi's, which is numpy's. testdata/golden was made by its code (tools/golden/aggregates.py), and golden_test.go
// holds this package to it. The rules that surprise:
//
//   - NaN stands for an aggregate that a series lacks, and cannot be told from a stored NaN. Arithmetic hands it on;
//     comparisons with it are false, except !=; max takes the other operand.
//   - aggregate and rolling leave NaN out. Of nothing but NaN the sum and the count are 0, all else is NaN. std and var
//     are those of a population (divided by n), unlike the std that is stored.
//   - resample does not leave NaN out: its rules are those of package carbonara, where std is that of a sample, and
//     absent for a group of one.
//   - An aggregate's rate: method is the difference of its consecutive results, so that the first one is lost.
//   - A comparison gives booleans, shown as 1.0 and 0.0. Between two of them + is "or" and * is "and", and their
//     rateofchange reports whether they differ. Other operators count with 1 and 0, also where numpy refuses to.
//   - An operator between two lists of series works column by column; a list of one series is repeated, one of none
//     gives none. Only the first column of the result of an aggregate or of such an operator is shown.
//   - Sums over series or a window keep what additions round away, and are rounded once; so are the means of std and
//     var. A mean across series is finite where its values are. Gnocchi differs in the last bits, and where values
//     cancel; so it may in those of sin, cos, tan and **.
//   - In an S-expression a word may stand in quotes, which are not part of it. (In Gnocchi they are.)
//
// # Engines
//
// resample, and the median of an aggregate, are what a device may be faster at: they go through Options.Resampler, in
// large batches if it says so. The bits are the same either way; see docs/decisions/0029-requests-on-a-device.md.
//
// # Exact
//
// [Operation.Exact] takes what aggregates or resamples metrics out of an operation, as a [Combination]: it is computed
// from the groups that are stored of the metrics, by package carbonara, and gives what all their measures at once give.
// The rest of the operation works on its series. See docs/decisions/0019-exact-combination.md.
//
// # Invariants
//
//   - A column is computed when it is read, into memory of the reader: memory grows with the aggregates that were read
//     plus a few columns, not with series times timestamps. Medians, and what a device resamples, go in parts of 64 MiB
//     or so.
//   - Text from outside never panics: depth and size of an operation are limited.
package aggregates
