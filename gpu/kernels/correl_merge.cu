// correl_columns, correl_merge: add segments, one after the other, to what columns and pairs come to so far.
//
//   delta = mean of the segment - mean so far
//   moment += sum of squares (or products) - s * s / n + delta * delta * (N * n / (N + n)),   N the rows so far
//
// In: what correl_gram or correl_sides found ([segment][column]); g ([segment][tile][element]). In and out: the columns' state, and
// the pairs' moments ([tile][element]). Between the two: delta ([segment][column]).
// Bytes: 8 a pair and segment, and 16 a pair. Order: segments as they come, so that the same rows give the same bits.
// Launch: 256 threads, a warp a column; one an element, 64 blocks a tile.
#include "correl.h"

// Parts are what a segment's columns come to. Null: counts are the segment's rows, squares the diagonal of g.
struct Parts {
  const f64 *counts, *centres, *sums, *squares;
};

// A warp takes a column. Its lanes read 32 segments at once, and then all walk through them together: what one has to wait for
// is then but a few additions a segment.
KERNEL(256) correl_columns(Plan plan, Parts parts, const f64 *g, f64 *state, f64 *delta) {
  const u32 column = block_id() * (256 / WARP) + warp_id(), lane = lane_id();
  if (column >= plan.columns) return;
  State s = state_of(state, plan.columns);
  f64 n = s.n[column], moment = s.moment[column];
  Mean mean = {s.high[column], s.low[column]};
  const u64 diagonal = (u64)(column / PANEL) * TILE + column % PANEL * (PANEL + 1);
  for (u32 first = 0; first < plan.segments; first += WARP) {
    const u32 own = first + lane;
    const u64 at = (u64)own * plan.columns + column;
    f64 rows = 0, within = 0, d_own = 0;
    Mean m = {0, 0};
    if (own < plan.segments) {
      rows = parts.counts ? parts.counts[at] : rows_of(plan, own);
      if (rows > 0) {
        f64 sum = parts.sums[at], squares = parts.squares ? parts.squares[at] : g[(u64)own * plan.tiles * TILE + diagonal];
        m = mean_of(parts.centres[at], sum, rows), within = about_mean(squares, sum, sum, rows);
      }
    }
    for (u32 k = 0; k < MIN(WARP, plan.segments - first); k++) {
      f64 r = shuffle(rows, k), w = shuffle(within, k);
      Mean other = {shuffle(m.high, k), shuffle(m.low, k)};
      if (r == 0) continue;
      f64 d = n > 0 ? minus(other, mean) : 0, total = n + r;
      if (lane == k) d_own = d;
      moment = merge(moment, w, d, d, n * r / total);
      mean = n > 0 ? plus(mean, d * (r / total)) : other;
      n = total;
    }
    if (own < plan.segments) delta[at] = d_own;
  }
  if (lane == 0) s.n[column] = n, s.high[column] = mean.high, s.low[column] = mean.low, s.moment[column] = moment;
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
    moment = merge(moment, about_mean(g[k * step + at], sums_x[x], sums_y[y], n), delta_x[x], delta_y[y], before * n / (before + n));
  }
  moments[at] = moment;
}
EXPORT(correl_merge)
