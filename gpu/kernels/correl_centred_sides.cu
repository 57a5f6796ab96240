// correl_sides: one side of a product of columns, centred, for pairs of rows that lie apart (lags), or with gaps.
//
//   v[t] = x[offset + t] - c, 0 where a value is missing; p[t] = 1, 0 where missing; v2[t] = v[t] * v[t]
//
// NaN and infinities are missing. c is the mean of a segment's values, or exactly their value if they are all equal.
// In: columns (f64, [column][ld]). Out: v, and with gaps p and v2 ([column][pitch], rows up to a multiple of 16 are 0); count, c,
// sum and squares of v ([segment][column]). Bytes: 16 a value, with gaps 32. Launch: 256 threads, a block a segment and column.
// Order: sums of a thread's 8 values, then a tree.
#include "correl.h"

constexpr u32 SIDE_VALUES = SEGMENT / 256;

struct Side {
  f64 *values, *present, *squared; // the last two null without gaps
  i64 pitch;
  f64 *counts, *centres, *sums, *squares;
};

// Totals are what a block finds in one go.
struct Totals {
  f64 n, sum, lowest, highest;
};

DEVICE Totals join(Totals a, Totals b) { return {a.n + b.n, a.sum + b.sum, minimum(a.lowest, b.lowest), maximum(a.highest, b.highest)}; }
DEVICE Totals across(Totals t, u32 by) {
  u32 lane = lane_id() ^ by;
  return {shuffle(t.n, lane), shuffle(t.sum, lane), shuffle(t.lowest, lane), shuffle(t.highest, lane)};
}

// of_block joins what the threads bring; all get the result.
DEVICE Totals of_block(Totals t) {
  SHARED Totals parts[256 / WARP];
  for (u32 by = WARP / 2; by; by /= 2) t = join(t, across(t, by));
  sync_block(); // the last result was read
  if (lane_id() == 0) parts[warp_id()] = t;
  sync_block();
  t = parts[0];
  for (u32 w = 1; w < 256 / WARP; w++) t = join(t, parts[w]);
  return t;
}

KERNEL(256) correl_sides(const f64 *x, i64 ld, i64 offset, Plan plan, Side side) {
  const u32 column = block_id() % plan.columns, segment = block_id() / plan.columns, n = rows_of(plan, segment);
  const i64 from = (i64)(plan.segment + segment) * SEGMENT;
  const f64 *rows = x + column * ld + offset + from;
  f64 v[SIDE_VALUES];
  Totals t = {0, 0, not_a_number(), not_a_number()};
  UNROLL
  for (u32 k = 0; k < SIDE_VALUES; k++) {
    u32 row = k * 256 + thread_id();
    v[k] = row < n ? rows[row] : not_a_number();
    if (missing(v[k])) v[k] = not_a_number();
    else t = join(t, {1, v[k], v[k], v[k]});
  }
  t = of_block(t);
  const f64 count = t.n, centre = count == 0 ? 0 : t.lowest == t.highest ? t.lowest : t.sum / count;
  Totals rest = {0, 0, 0, 0}; // n is the sum, sum that of squares
  UNROLL
  for (u32 k = 0; k < SIDE_VALUES; k++) {
    u32 row = k * 256 + thread_id();
    bool there = v[k] == v[k];
    f64 d = there ? v[k] - centre : 0, d2 = d * d;
    rest.n += d, rest.sum += d2;
    if (row >= (n + STEP - 1) / STEP * STEP) continue;
    i64 at = column * side.pitch + from + row;
    side.values[at] = d;
    if (side.present) side.present[at] = there, side.squared[at] = d2;
  }
  rest = of_block(rest);
  if (thread_id()) return;
  u64 at = (u64)segment * plan.columns + column;
  side.counts[at] = count, side.centres[at] = centre, side.sums[at] = rest.n, side.squares[at] = rest.sum;
}
EXPORT(correl_sides)
