// correl_plain: what correl_gram computes, without tensor cores: see there for formula, layouts and launch.
//
// A block copies 16 rows of both panels to shared memory, turned, and a thread adds up 8 x 8 products, of columns 16 apart. No
// dynamic shared memory. Order: row by row.
#include "correl.h"
#include "correl_mma.h"

#if !defined(__CUDA__) || !defined(CORREL_TENSOR)

constexpr u32 PLAIN_PITCH = PANEL + 2;

template <bool Centred>
DEVICE void plain(const f64 *x, const f64 *y, i64 ld, const Plan &plan, const f64 *centres, f64 *g, f64 *sums) {
  SHARED f64 turned[2][STEP][PLAIN_PITCH];
  const u32 tile = block_id() % plan.tiles, segment = block_id() / plan.tiles, thread = thread_id();
  u32 panels[2];
  tile_at(plan, tile, panels[0], panels[1]);
  const u32 n = rows_of(plan, segment), row = thread / 16, column = thread % 16;
  const f64 *sides[2] = {x, y};
  f64 c[8][8] = {}, sum = 0;
  for (u32 step = 0; step < n; step += STEP) {
    sync_block();
    UNROLL
    for (u32 side = 0; side < 2; side++)
      UNROLL
      for (u32 u = 0; u < 8; u++) {
        u32 at = MIN(panels[side] * PANEL + u * 16 + row, plan.columns - 1);
        f64 v = sides[side][at * ld + (i64)(plan.segment + segment) * SEGMENT + step + column];
        if (Centred) v -= centres[(i64)segment * plan.columns + at];
        turned[side][column][u * 16 + row] = v;
      }
    sync_block();
    if (Centred && thread < PANEL)
      for (u32 k = 0; k < STEP; k++) sum += turned[0][k][thread];
    for (u32 k = 0; k < STEP; k++) {
      f64 a[8], b[8];
      UNROLL
      for (u32 u = 0; u < 8; u++) a[u] = turned[0][k][u * 16 + row], b[u] = turned[1][k][u * 16 + column];
      UNROLL
      for (u32 u = 0; u < 8; u++)
        UNROLL
        for (u32 w = 0; w < 8; w++) c[u][w] = __builtin_fma(a[u], b[w], c[u][w]);
    }
  }
  f64 *out = g + ((i64)segment * plan.tiles + tile) * TILE;
  UNROLL
  for (u32 u = 0; u < 8; u++)
    UNROLL
    for (u32 w = 0; w < 8; w++) out[(u * 16 + row) * PANEL + w * 16 + column] = c[u][w];
  u32 at = panels[0] * PANEL + thread;
  if (Centred && panels[0] == panels[1] && thread < PANEL && at < plan.columns) sums[(i64)segment * plan.columns + at] = sum;
}

KERNEL(256) correl_plain(const f64 *x, const f64 *y, i64 ld, Plan plan, f64 *g) { plain<false>(x, y, ld, plan, nullptr, g, nullptr); }
KERNEL(256) correl_plain_centred(const f64 *x, i64 ld, Plan plan, const f64 *centres, f64 *g, f64 *sums) {
  plain<true>(x, x, ld, plan, centres, g, sums);
}
EXPORT(correl_plain)
EXPORT(correl_plain_centred)
#endif
