// Package carbonara holds a series in memory: its measures, the groups they fall into, the aggregates of each group,
// and the bytes in which these are kept. It does no I/O, takes no locks and reads no clock.
//
// On the path of a measure in, package metricd puts the new measures of many metrics into a [Batch]. In one call a
// [Resampler] computes the [Groups] of every granularity and [Column] of each metric's [Plan], and they are stored as
// splits. On the path of aggregates out, splits are decoded into [Groups] again and [Groups.Aggregate] derives each
// [Method] from its columns: the mean from count and sum, std from count and second moment.
//
// Read resampler.go first, then groups.go, method.go and column.go; moments.go and package ranked are the
// arithmetic. Splits: split.go, split_vectors.go, vector_column.go, in this order; package intcodec packs the
// integers that these make of values, package sketch makes the values of sketch_column.go. The loops over the values of
// a vector are in simd_generic.go. Raw series: raw_chunk.go, raw_series.go, raw_vectors.go; packed_series.go is one
// that a resampler decodes. docs/format/split.md draws the bytes. Every value comes back bit for bit. [Coarsen] and
// [Merge] combine groups: exactly for decimals.
//
// # Meaning
//
// The rules below say what an aggregate is. They are Gnocchi's wherever Gnocchi has one, and where its documentation
// and its code differ (release 4.4.2), its code's. A rule that differs on purpose says so. The golden vectors in
// testdata/golden were made by Gnocchi's code; golden_test.go holds this package to them.
// docs/decisions/0003-meaning.md has the alternatives, tests/golden/README.md how Gnocchi differs.
//
// 1. Time. A [Timestamp] is nanoseconds since 1970-01-01T00:00:00Z, up to the year 2262. A measure from before 1970 is
// refused.
//
// 2. Groups. A measure at t falls into the group that starts at t - t%granularity, in integers; an aggregate
// carries the start of its group. Gnocchi differs.
//
// 3. Equal timestamps. Of measures of one metric with the same timestamp, the one that arrived last counts: the later
// request's, and within a request the one further back in the list. Gnocchi differs within what it processes
// together.
//
// 4. All measures, and nothing but them. The aggregates of a group are computed from all its accepted measures in order
// of time. They depend neither on how these were batched nor in which order they arrived, up to rules 3 and 11, nor on
// the number of workers or sacks. To the last bit, therefore: accumulation runs one measure after the other from the
// first to the last, and no multiplication is fused with an addition. A group is continued with the part of its sum
// that no column holds ([Groups.AppendOpen]), or computed anew from its measures. Gnocchi differs where a granularity
// does not divide the coarsest one.
//
// 5. Rates. rate:x is x over the differences of consecutive measures, each at the timestamp of the later one, however
// long the gap between them. A metric's first measure has no difference; a group in which no difference ends has no
// rate. A late measure also changes the difference that ends at the measure after it. Gnocchi differs
// across batches.
//
// 6. count, first, last. The number of measures, NaN included, as a float; the values of the earliest and the latest.
//
// 7. sum, mean. The sum starts from +0, so a sum of negative zeros is +0. It is accumulated in order of time,
// together with the error of each addition, and rounded once in the end. It lies within half a unit in the last
// place of the true sum, and n² * 2^-106 of the sum of magnitudes. The mean is sum / count. Of finite measures it is
// finite, also where the sum is not (huge_sum.go): six times 1.7e308 has the sum +Inf and the mean 1.7e308. A sum
// that overflows only on the way does not. Gnocchi differs: it rounds after each addition.
//
// 8. std. The square root of M2 / (n-1), where M2 is the sum of the squared distances from the mean; absent where n is
// 1. M2 follows Youngs and Cramer: once v is in n and the sum S, M2 += (n*v - S)² / (n*(n-1)), and the first v brings v
// - v. S includes its rounding error in float64. M2 never falls below zero, and is zero where all values are equal. It
// is off by some n * 2^-53 of itself at most, however far from zero the values lie. Gnocchi takes the mean first and
// then the distances. The two lie within one or two units in the last place of the group's largest value.
//
// 9. Percentiles. Values ascending, -0 below +0, NaN last; rank = (n-1) * (p/100), in floats, so that 7pct of 101
// measures has the rank 7.000000000000001. Where rank is whole, the value there; else low*(ceil-rank) +
// high*(rank-floor) of its two neighbours, both of which count however small their weight, if they are NaN or infinite.
// median is 50pct. Gnocchi differs in two ways.
//
// 10. NaN and infinities are values. They are counted, and
//
//	            a NaN in the group             an infinity in the group
//	sum, mean   NaN                            it; NaN if both +Inf and -Inf
//	std         NaN                            NaN (if there are two measures at least)
//	min         as if it were absent;          -Inf if there is one
//	            NaN if there is nothing else
//	max         NaN                            +Inf if there is one
//	first, last as they come                   as they come
//	percentile  after all other values         at its end of the order
//	rate:       two differences become NaN     two become infinite; equal ones in a row: NaN
//
// min and max treat NaN differently because Gnocchi sorts NaN last and takes the two ends. Of zeros of both signs
// min answers -0 and max +0; Gnocchi's answer depends on its sort. A sum of finite values that no float64 holds is
// infinite, and so is a std of such values unless they are close together. All NaNs are alike: sign and payload are
// not kept by arithmetic.
//
// 11. Back window. A block is a period of the coarsest granularity. Earlier requests decide on a request. Let present
// be the latest measure accepted from them that is not ahead (rule 15). Measures before floor(present, block) - back
// window * block are dropped and counted; a measure exactly there is kept. Other measures older than present are late:
// they are kept, and also counted. A metric's first request is never cut, nor is a request cut by its own newest
// measure. A policy with any rate: method has one block more, for all its methods. As in Gnocchi, but request by
// request: Gnocchi judges all requests together that it happens to process together.
//
// 12. Timespan. Of a granularity with a limited timespan, the groups with start > newest - timespan are kept, where
// newest is the start of the group of the present (rule 15): exactly as many as the policy has points, if there are no
// gaps and nothing is ahead. Gnocchi differs. We keep and expire all methods of a group together.
//
// 13. Splits. Aggregates are stored in splits of 3,600 groups: a split of granularity g starts at a multiple of 3,600 *
// g since 1970.
//
// 14. Absent. A moment of a group is absent ([Absent]) if its archive policy asked for it only later. No method answers
// from an absent moment, and a wider group that contains the group lacks it as well.
//
// 15. Ahead. A timestamp is a claim by a client, which may be wrong by years. A measure is ahead of a request if its
// block begins later than the block after the one in which the request was accepted, by the clock of the process that
// accepted it. The present of a metric is the latest accepted measure that is not ahead of the latest request from
// which a measure was accepted; a request itself is judged by the measures that are not ahead of it. Where there is no
// such measure, nothing is too old and nothing expires. Measures ahead are kept and read like any other, and once time
// has come to them they count. Gnocchi differs: the newest measure counts, whenever it may be.
//
// 16. Folds. count_above(x) and count_below(x) are how many measures are greater or less than x; a NaN is neither.
// share_above(x) and share_below(x) are these over count, and difference is last - first. All are exact. sum(x*x) is
// M2 + sum*(sum/count), NaN if there is a NaN, else +Inf if there is an infinity. It is off by some n * 2^-53 of itself
// at most. Gnocchi has none of them. fold.go says how they merge.
package carbonara
