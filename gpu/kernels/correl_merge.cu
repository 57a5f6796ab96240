// correl_columns, correl_merge: add segments, one after the other, to what columns and pairs come to so far.
//
//   delta = mean of the segment - mean so far
//   moment += sum of squares (or products) - s * s / n + delta * delta * (N * n / (N + n)),   N the rows so far
//
// In: what correl_gram or correl_sides found ([segment][column]); g ([segment][tile][element]). In and out: the columns' state, and
// the pairs' moments ([tile][element]). Between the two: delta ([segment][column]).
// Bytes: 8 a pair and segment, and 16 a pair. Order: segments as they come, so that the same rows give the same bits.
// Launch: 256 threads, one a column; one an element, 64 blocks a tile.
#include "correl.h"

// Parts are what a segment's columns come to. Null: counts are the segment's rows, squares the diagonal of g.
struct Parts {
  const f64 *counts, *centres, *sums, *squares;
};

KERNEL(256) correl_columns(Plan plan, Parts parts, const f64 *g, f64 *state, f64 *delta) {
  u32 column = block_id() * block_size() + thread_id();
  if (column >= plan.columns) return;
  State s = state_of(state, plan.columns);
  f64 n = s.n[column], moment = s.moment[column];
  Mean mean = {s.high[column], s.low[column]};
  const u64 diagonal = (u64)(column / PANEL) * TILE + column % PANEL * (PANEL + 1);
  for (u32 k = 0; k < plan.segments; k++) {
    u64 at = (u64)k * plan.columns + column;
    f64 rows = parts.counts ? parts.counts[at] : rows_of(plan, k);
    if (rows == 0) {
      delta[at] = 0;
      continue;
    }
    f64 sum = parts.sums[at], squares = parts.squares ? parts.squares[at] : g[(u64)k * plan.tiles * TILE + diagonal];
    Mean m = mean_of(parts.centres[at], sum, rows);
    f64 d = n > 0 ? minus(m, mean) : 0, total = n + rows;
    delta[at] = d;
    moment = merge(moment, squares, sum, sum, rows, d, d, n * rows / total);
    mean = n > 0 ? plus(mean, d * (rows / total)) : m;
    n = total;
  }
  s.n[column] = n, s.high[column] = mean.high, s.low[column] = mean.low, s.moment[column] = moment;
}
EXPORT(correl_columns)

constexpr u32 MERGE_BLOCKS = TILE / 256; // a tile

KERNEL(256)
correl_merge(Plan plan, const f64 *g, const f64 *sums_x, const f64 *sums_y, const f64 *delta_x, const f64 *delta_y, f64 *moments) {
  const u32 tile = block_id() / MERGE_BLOCKS, element = block_id() % MERGE_BLOCKS * 256 + thread_id();
  const Pair pair = pair_at(plan, tile, element);
  if (!pair.some) return;
  const u64 at = (u64)tile * TILE + element, step = (u64)plan.tiles * TILE;
  f64 moment = moments[at];
#pragma unroll 8
  for (u32 k = 0; k < plan.segments; k++) {
    u64 x = (u64)k * plan.columns + pair.i, y = (u64)k * plan.columns + pair.j;
    f64 n = rows_of(plan, k), before = (f64)(plan.before + (i64)(plan.segment + k) * SEGMENT);
    moment = merge(moment, g[k * step + at], sums_x[x], sums_y[y], n, delta_x[x], delta_y[y], before * n / (before + n));
  }
  moments[at] = moment;
}
EXPORT(correl_merge)
