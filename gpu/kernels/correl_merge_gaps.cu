// correl_split, correl_merge_gaps: pairs whose columns have gaps, each with rows, means and moments of its own.
//
// In: six products a segment ([product][segment][tile][element]): of values with values, present with present, values with
// present and present with values, squared with present and present with squared. In and out: eight planes of state
// ([plane][tile][element]). The formulas are those of correl_merge, with each pair's own numbers; the twin of correlate/moments.go.
// Bytes: 48 a pair and segment, 128 a pair. Launch: 256 threads, one an element, 64 blocks a tile.
//
// A column's centre is that of all its rows in the segment. Where the rows that a pair shares lie so far from it that more than 6
// bits would cancel, the thread goes over the raw columns again, twice: rare, slow and exact.
#include "correl.h"

constexpr u32 GAPS_BLOCKS = TILE / 256;

enum { GAPS_N, GAPS_MOMENT, GAPS_X, GAPS_Y, HIGH_X, LOW_X, HIGH_Y, LOW_Y };
enum { VALUES, PRESENT, SUM_X, SUM_Y, SQUARES_X, SQUARES_Y };

// correl_split starts the state of pairs from that of columns without gaps; the moments of pairs are there already.
KERNEL(256) correl_split(Plan plan, f64 *state_x, f64 *state_y, f64 *planes) {
  const u32 tile = block_id() / GAPS_BLOCKS, element = block_id() % GAPS_BLOCKS * 256 + thread_id();
  const Pair pair = pair_at(plan, tile, element);
  const u64 at = (u64)tile * TILE + element, step = (u64)plan.tiles * TILE;
  if (!pair.some) return;
  State x = state_of(state_x, plan.columns), y = state_of(state_y, plan.columns);
  planes[GAPS_N * step + at] = x.n[pair.i];
  planes[GAPS_X * step + at] = x.moment[pair.i], planes[GAPS_Y * step + at] = y.moment[pair.j];
  planes[HIGH_X * step + at] = x.high[pair.i], planes[LOW_X * step + at] = x.low[pair.i];
  planes[HIGH_Y * step + at] = y.high[pair.j], planes[LOW_Y * step + at] = y.low[pair.j];
}
EXPORT(correl_split)

// Shared is what the rows of one column come to that the other has, too.
struct Shared {
  f64 centre, sum, squares;
};

DEVICE bool cancels(const Shared &s, f64 n) { return s.squares > 64 * (s.squares - s.sum * s.sum / n); }

// recompute takes the shared rows in two passes, and returns the sum of products.
DEVICE f64 recompute(Shared &p, Shared &q, const f64 *x, const f64 *y, u32 rows, f64 n) {
  f64 first_x = 0, first_y = 0, sum_x = 0, sum_y = 0;
  bool any = false;
  for (u32 t = 0; t < rows; t++) {
    f64 v = x[t], w = y[t];
    if (missing(v) || missing(w)) continue;
    if (!any) any = true, first_x = v, first_y = w;
    sum_x += v - first_x, sum_y += w - first_y;
  }
  p = {first_x + sum_x / n, 0, 0}, q = {first_y + sum_y / n, 0, 0};
  f64 products = 0;
  for (u32 t = 0; t < rows; t++) {
    f64 v = x[t] - p.centre, w = y[t] - q.centre;
    if (missing(v) || missing(w)) continue;
    p.sum += v, p.squares += v * v, q.sum += w, q.squares += w * w, products += v * w;
  }
  return products;
}

// Raw is where a side's values come from.
struct Raw {
  const f64 *rows; // of column 0
  const f64 *centres;
};

KERNEL(256) correl_merge_gaps(Plan plan, const f64 *g, Raw raw_x, Raw raw_y, i64 ld, f64 *planes) {
  const u32 tile = block_id() / GAPS_BLOCKS, element = block_id() % GAPS_BLOCKS * 256 + thread_id();
  const Pair pair = pair_at(plan, tile, element);
  if (!pair.some) return;
  const u64 at = (u64)tile * TILE + element, step = (u64)plan.tiles * TILE;
  f64 n = planes[GAPS_N * step + at], moment = planes[GAPS_MOMENT * step + at];
  f64 moment_x = planes[GAPS_X * step + at], moment_y = planes[GAPS_Y * step + at];
  Mean mean_x = {planes[HIGH_X * step + at], planes[LOW_X * step + at]}, mean_y = {planes[HIGH_Y * step + at], planes[LOW_Y * step + at]};
  for (u32 k = 0; k < plan.segments; k++) {
    const f64 *segment = g + k * step + at;
    const u64 product = plan.segments * step;
    f64 rows = segment[PRESENT * product];
    if (rows == 0) continue;
    f64 products = segment[VALUES * product];
    Shared p = {raw_x.centres[(u64)k * plan.columns + pair.i], segment[SUM_X * product], segment[SQUARES_X * product]};
    Shared q = {raw_y.centres[(u64)k * plan.columns + pair.j], segment[SUM_Y * product], segment[SQUARES_Y * product]};
    if (cancels(p, rows) || cancels(q, rows)) {
      i64 from = (i64)(plan.segment + k) * SEGMENT;
      products = recompute(p, q, raw_x.rows + pair.i * ld + from, raw_y.rows + pair.j * ld + from, rows_of(plan, k), rows);
    }
    Mean m_x = mean_of(p.centre, p.sum, rows), m_y = mean_of(q.centre, q.sum, rows);
    f64 total = n + rows, weight = n * rows / total, d_x = 0, d_y = 0;
    if (n > 0) d_x = minus(m_x, mean_x), d_y = minus(m_y, mean_y);
    moment_x = merge(moment_x, about_mean(p.squares, p.sum, p.sum, rows), d_x, d_x, weight);
    moment_y = merge(moment_y, about_mean(q.squares, q.sum, q.sum, rows), d_y, d_y, weight);
    moment = merge(moment, about_mean(products, p.sum, q.sum, rows), d_x, d_y, weight);
    mean_x = n > 0 ? plus(mean_x, d_x * (rows / total)) : m_x;
    mean_y = n > 0 ? plus(mean_y, d_y * (rows / total)) : m_y;
    n = total;
  }
  planes[GAPS_N * step + at] = n, planes[GAPS_MOMENT * step + at] = moment;
  planes[GAPS_X * step + at] = moment_x, planes[GAPS_Y * step + at] = moment_y;
  planes[HIGH_X * step + at] = mean_x.high, planes[LOW_X * step + at] = mean_x.low;
  planes[HIGH_Y * step + at] = mean_y.high, planes[LOW_Y * step + at] = mean_y.low;
}
EXPORT(correl_merge_gaps)
