// Package replica makes one series of the measures that several senders make of the same thing: two Prometheus that
// scrape the same targets and push here. It is a leaf: no I/O, no clock, no state between calls.
//
// # Problem
//
// Merged as they come, the measures of two replicas count twice, and where their clocks differ a counter seems to fall
// at every second measure. A leader that is followed until it is silent needs state that all processes share, and
// decides by arrival. A vote in each group fails where groups are narrower than a scrape interval.
//
// # Law
//
// The replicas have an order: measures of none (imports, corrections) come first, then replicas by a hash of their
// names. The first one's measures count; another's only in gaps of those before it. The measures that count of earlier
// replicas leave a gap around each measure of another one. With T the distance to the nearer neighbour of its own
// replica, 5 minutes at most, it counts if the gap is 2 T or longer and no end of the gap is nearer than D. D is the
// lesser of ¾ T and half of the gap without 9/8 T (jitter), but at least T/2 and 6 s.
//
//   - The kept measures of a series decide, and nothing else: not the order of arrival, not batches, not processes.
//   - While the first replica lives, it alone counts, at all phases.
//   - D is at least 6 s: with clocks up to 5 s apart, the measures that count stand in the order in which they were
//     true. So a counter has no false reset, and nothing counts twice.
//   - While any replica lives, 2 T pass at most between measures that count, or T and 12 s where T is short.
//   - Anything longer than 5 minutes is a gap, not a scrape interval.
//
// # Place
//
// A replica's number lies in the digits of a timestamp below a millisecond, which every store keeps: 500,001 ns and
// 330 for each. Prometheus counts milliseconds. The metric's record says that it has replicas, and so does a raw series
// (docs/format/raw.md). Other series keep their digits. docs/decisions/0125-pairs.md weighs the place.
//
// # What may be forgotten
//
// A measure is settled as lost once its neighbours of its own replica are there, and it and both have lost to the first
// of the replicas: more measures of that one change nothing. Without it, all others get the same verdicts, if each
// replica's come in order and a measure of the first one was there.
package replica
