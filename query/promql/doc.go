// Package promql answers PromQL from archives. Prometheus' own engine evaluates; this package says which series a
// selector means, and which samples they have.
//
// On the path of aggregates out it stands where package query/aggregates stands for Gnocchi's operations. An expression
// is parsed and rewritten (rewrite.go), and the engine asks for series (source.go, selection.go). Package postings
// finds them by labels. For each one it is decided which columns to read (reading.go) and which granularity serves
// which time (parts.go). The groups, read through query.Archives (read_ahead.go), become samples (samples.go).
//
// Before the engine runs, package columns evaluates the parts of the expression that are pipelines: selectors with
// functions over their ranges, operations and aggregations (pipelines.go, rows.go). Selectors of the results take their
// places (series.go); a query that is one pipeline needs no engine.
//
// # How a group becomes a sample
//
// 1. The law. A range query gives at every step what an instant query gives at that time. Late measures and retention
// apart, the answer for a time never changes. So the query's step has no influence on an answer, except as rule 4
// allows.
//
// 2. Time. The group [s, s+g) is a sample at s+g, rounded up to a millisecond, once that time has passed, and never
// before. A range (t-r, t] of multiples of g then takes whole groups. Raw measures, where they are kept, are samples at
// their own times. The section below has the other ranges.
//
// 3. Granularity. A time is served by the finest granularity that is kept there, by raw measures before any. Two
// granularities join at a multiple of the coarser. The metric's newest measure determines the kept groups, as package
// carbonara says.
//
// 4. Coarser granularities serve functions over time that are exact from columns, where the range and all times are
// multiples of them. The answer is then the REST API's of these groups. Raw measures still come first: otherwise the
// query's other times would decide between two answers, since Prometheus counts a measure at the very time t in (t-r,
// t], while a group counts the measure at its start. For a series that was pushed with labels these functions do as
// Prometheus while measures are kept; where raw measures join groups, the group that ends there stands for a measure of
// that very time, whether the query reads the group or not. For a metric of a resource a range of raw measures is also
// [t-r, t), so that it answers as groups and the REST API do, at any age.
//
// 5. Staleness. A series ends max(5 min, 2 g) after its last sample, g being that sample's granularity. For a raw
// measure g is the finest granularity of the archive policy. Series of one query may end at different times.
//
// 6. Method. Functions over time read the column of their name; averages and deviations follow from moments
// (moments.go). If the policy lacks a function's column, the function reads the column of selectors, and a warning says
// so. quantile_over_time is the stored percentile where each range of the query is one group and the archive policy has
// that percentile. Otherwise it is the quantile of all measures from sketches, if the policy has them (sketches.go),
// within 1.1 %, and an info says so; else that of the column of selectors, and a warning says so. Selectors read last
// if the policy has it, else mean. rate, irate, increase, resets, delta, idelta, deriv and predict_linear read last. A
// policy without it answers the first four from max and the others from mean; if it has neither, the query fails. A
// warning says so wherever groups answer: resets and changes within groups are not seen then.
//
// A policy with increase and resets answers rate, increase, delta and resets exactly, as the engine would from the
// measures (counters.go). irate and idelta are exact for groups of two measures at most; else they are the mean of the
// last group, and a warning says so. Groups from before their policy had the columns count as one measure each, or are
// left out: a warning says so, once they are read (reading.go).
//
// 7. The matcher __aggregation__ chooses another method, __granularity__ a granularity. Neither is a label, with one
// exception: if the matcher of __aggregation__ is not =, each method that matches is a series, and this label says
// which. An info says which granularities answered a selector, unless raw measures alone did.
//
// # Any age, time and range
//
// The law: an answer does not change with the age of its measures, beyond what its warning says. It is one from heads,
// from raw measures and from groups of any granularity. Three rules make it so.
//
// At multiples of the granularity the columns are exact. The sum of a group is rounded to a float64: sum_over_time is
// off by 2^-53 of the sums of its groups together, at most, and avg_over_time by as much over the count;
// stddev_over_time by 2^-53 of the largest mean of a group. Sums that cancel across groups show it, and deviations far
// from zero. A column max is NaN if its group holds NaN, where Prometheus leaves NaN out: a warning says so.
//
// Elsewhere a range may have parts of two groups. With f the share of a group in the range:
//
//	sum, count              each group's, times f
//	avg, stddev, stdvar     of moments times f
//	increase, delta, resets those of the ranges between the bounds of the groups that hold its two ends, by bilinear
//	                        interpolation; rate is increase over the range
//	min, max, quantile      those of all groups touched
//	first                   of the first group that begins in the range, else of the one that holds it
//	last                    of the group that ended last, even before the range
//	irate, idelta           of the group that holds the end
//	present, absent         whether a group is touched
//	others                  of the groups that end in the range, else of the one that holds it
//
// So sums of adjacent ranges add up, increases are continuous in time and range, and where a group covers the time
// there is an answer. A counter's group of one or two measures is these measures; one at the very start of its group
// counts as a millisecond later, as groups have it. A range shorter than a group gets a warning, and so does any part
// of a group for min, max and quantiles; else an info says it. Groups count as evenly filled.
//
// A millisecond is a small group. Functions over time that groups answer have all measures of it; selectors, changes,
// deriv and their like have the last one, and so has each part of a native histogram.
//
// A native histogram is its parts, and begins anew where its count or a bucket falls. Groups have their first and last
// histogram, so that steps between groups are Prometheus'. Within a group with a reset the count knows how much all
// buckets increased. Where that leaves several buckets that may not have been seen to fall, their increase is an
// estimate, and a warning says so (native_counters.go).
package promql
