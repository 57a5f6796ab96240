// Package anomaly says how far the values of a window are from those of the window before and of the same hour of
// earlier days, since when, and in which labels the series that moved differ from those that stayed. It reads nothing:
// package query gives it values, of the groups that Granularity chooses.
//
// The laws, which the tests hold:
//
//   - A score is a distance between distributions, in standard deviations of the window before. Values in the outer
//     tenth of a window do not count, however far off they are.
//   - A series that moves as it moved at this hour of an earlier day or week did not move.
//   - A series that stands still where it moved alike at this hour of all earlier days, two at least, did move.
//   - The movement counts, and not the level: a deploy or a trend since that day hides nothing.
package anomaly
