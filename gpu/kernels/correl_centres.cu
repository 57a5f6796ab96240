// correl_centres: a value near the middle of each segment of each column, from 64 of its rows.
//
//   c = (sum of 16 times 4 rows in a row) / 64, or of 64 rows evenly apart, some of them twice, where there are fewer than 64
//
// The centre of so many rows cannot lie further from that of all n than sqrt(n/64) deviations, so that at most 5 bits cancel when
// the rest is taken away (correl_merge). Equal values have exactly themselves as centre: the additions form a tree.
//
// In: columns (f64, [column][ld]). Out: centres ([segment][column]); and rows behind the last one, up to a multiple of 16, get the
// centre as value, so that they come to nothing. Reads 512 bytes a column and segment, in whole sectors. Launch: 256 threads, a warp for each.
#include "correl.h"

constexpr u32 CENTRE_ROWS = 64;

KERNEL(256) correl_centres(f64 *x, i64 ld, Plan plan, f64 *centres) {
  u32 item = block_id() * (256 / WARP) + warp_id(), lane = lane_id();
  if (item >= plan.columns * plan.segments) return;
  u32 column = item % plan.columns, segment = item / plan.columns, n = rows_of(plan, segment);
  f64 *rows = x + column * ld + (i64)(plan.segment + segment) * SEGMENT;
  u32 first = lane * n / CENTRE_ROWS, second = (lane + WARP) * n / CENTRE_ROWS;
  if (n >= CENTRE_ROWS) first = lane / 2 * n / 16 / 4 * 4 + lane % 2 * 2, second = first + 1;
  f64 sum = rows[first] + rows[second];
  for (u32 by = WARP / 2; by; by /= 2) sum += shuffle(sum, lane ^ by);
  f64 centre = sum / CENTRE_ROWS;
  if (lane == 0) centres[item] = centre;
  if (lane < STEP && n % STEP && n + lane < (n + STEP - 1) / STEP * STEP) rows[n + lane] = centre;
}
EXPORT(correl_centres)
