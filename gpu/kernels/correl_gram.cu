// correl_gram: the sums of products of all pairs of columns of two panels, over a segment of rows, on tensor cores.
//
//   g[i][j] = sum over rows of (x_i - c_i) * (y_j - c_j), of which only i <= j means something in a diagonal tile
//   s[i]    = sum over rows of (x_i - c_i), from diagonal tiles
//
// In: columns x and y (f64, [column][ld], rows padded to a multiple of 16), centres ([segment][column]), or none: then c = 0 and no
// s. Out: g ([segment][tile][row][column]), s ([segment][column]).
// Bytes: 2 panels of 2,048 rows a tile, from the second-level cache for all but the first; 128 KB written. 67 MFLOP a tile and
// segment. Order: rows in steps of 8, and within them as the tensor core does; the same for every element.
// Launch: 256 threads, a block a tile and segment, GRAM_SHARED bytes.
//
// A warp computes 64 x 32; in diagonal tiles, 48 x 32 above the diagonal. Rows come 16 at a time, four copies ahead, and lie in
// shared memory as they do in the columns: [column][16 rows], where each second column has its two halves exchanged, so that a
// quarter of a warp reads 128 bytes of different banks. Which k of a product is which row does not matter, as long as it is the
// same for x and y: a lane reads two rows that lie side by side.
// Sixteen warps of 32 x 32 took 9 % longer (22.9 against 21.0 ms for 10,000 columns of 8,640 rows).
#include "correl.h"
#include "correl_mma.h"

#ifdef CORREL_TENSOR
constexpr u32 STAGES = 4, STAGE = 2 * PANEL * STEP;
constexpr u32 GRAM_SHARED = STAGES * STAGE * 8;

typedef f64 f64x2 __attribute__((ext_vector_type(2)));

// at returns where two rows of a column lie: chunk is the rows by two.
DEVICE u32 at(u32 column, u32 chunk) { return column * STEP + (chunk ^ ((column & 1) << 2)) * 2; }

// Reader is where a lane finds its two rows of columns g, g + 8, g + 16 … from a first one on, a multiple of 8: what depends on the
// lane is computed once.
struct Reader {
  u32 halves[2]; // for rows 0 to 7 and 8 to 15

  DEVICE_MEMBER f64x2 operator()(const f64 *rows, u32 half, u32 column) const {
    return *(const f64x2 *)(rows + halves[half] + column * STEP);
  }
};
DEVICE Reader reader(u32 first) {
  const u32 g = lane_id() / 4, q = lane_id() % 4, odd = (g & 1) << 2;
  return {{(first + g) * STEP + (q ^ odd) * 2, (first + g) * STEP + ((q + 4) ^ odd) * 2}};
}

struct Gram {
  const f64 *x, *y;
  i64 ld;
  const f64 *centres;
  f64 *g, *sums;
};

// Part is what a warp computes: rows of the tile from row on, in steps of 16, and 32 columns from column on.
struct Part {
  u32 row, column;
};

// Eight warps cover the upper half of a diagonal tile in pieces of 48 x 32; some of them overlap.
DEVICE Part diagonal_part(u32 warp) {
  switch (warp) {
  case 0: return {0, 96};
  case 1: return {48, 96};
  case 2: return {80, 96};
  case 3: return {0, 64};
  case 4: return {48, 64};
  case 5: return {0, 32};
  case 6: return {16, 32};
  default: return {0, 0};
  }
}

template <u32 Steps, bool Centred> DEVICE void gram_tile(const Gram &o, const Plan &plan, u32 tile, u32 segment, u32 ti, u32 tj, Part part) {
  const u32 lane = lane_id(), g = lane / 4, q = lane % 4;
  const bool same = ti == tj && o.x == o.y;
  const u32 n = rows_of(plan, segment), steps = (n + STEP - 1) / STEP;
  const i64 from = (i64)(plan.segment + segment) * SEGMENT;
  f64 *const shared = dynamic_shared;

  auto fetch = [&](u32 step) {
    f64 *stage = shared + step % STAGES * STAGE;
    const u32 chunk = thread_id() % 8;
    UNROLL
    for (u32 u = 0; u < 4; u++) {
      u32 c = u * 32 + thread_id() / 8;
      copy_async(stage + at(c, chunk), o.x + (i64)MIN(ti * PANEL + c, plan.columns - 1) * o.ld + from + step * STEP + chunk * 2);
    }
    if (same) return;
    UNROLL
    for (u32 u = 0; u < 4; u++) {
      u32 c = u * 32 + thread_id() / 8;
      copy_async(stage + PANEL * STEP + at(c, chunk),
                 o.y + (i64)MIN(tj * PANEL + c, plan.columns - 1) * o.ld + from + step * STEP + chunk * 2);
    }
  };

  f64 cx[Steps][2], cy[4];
  if (Centred) {
    const f64 *centres = o.centres + (i64)segment * plan.columns;
    UNROLL
    for (u32 i = 0; i < Steps; i++)
      UNROLL
      for (u32 h = 0; h < 2; h++) cx[i][h] = centres[MIN(ti * PANEL + part.row + i * 16 + h * 8 + g, plan.columns - 1)];
    UNROLL
    for (u32 j = 0; j < 4; j++) cy[j] = centres[MIN(tj * PANEL + part.column + j * 8 + g, plan.columns - 1)];
  }
  const Reader read_x = reader(part.row), read_y = reader(part.column);
  f64 sums[Steps][2] = {};
  f64 c[Steps][4][4] = {};
  const bool summing = Centred && Steps == 3 && ti == tj && part.column == 96;

  UNROLL
  for (u32 s = 0; s < STAGES - 1; s++) {
    if (s < steps) fetch(s);
    commit_copies();
  }
  for (u32 step = 0; step < steps; step++) {
    wait_copies<STAGES - 2>();
    sync_block();
    if (step + STAGES - 1 < steps) fetch(step + STAGES - 1);
    commit_copies();
    const f64 *x = shared + step % STAGES * STAGE, *y = same ? x : x + PANEL * STEP;
    UNROLL
    for (u32 half = 0; half < 2; half++) {
      f64 b[4][2];
      UNROLL
      for (u32 j = 0; j < 4; j++) {
        f64x2 v = read_y(y, half, j * 8);
        b[j][0] = Centred ? v.x - cy[j] : v.x;
        b[j][1] = Centred ? v.y - cy[j] : v.y;
      }
      UNROLL
      for (u32 i = 0; i < Steps; i++) {
        f64 a[4];
        UNROLL
        for (u32 h = 0; h < 2; h++) {
          f64x2 v = read_x(x, half, i * 16 + h * 8);
          a[h] = Centred ? v.x - cx[i][h] : v.x;
          a[2 + h] = Centred ? v.y - cx[i][h] : v.y;
          if (summing) sums[i][h] += a[h] + a[2 + h];
        }
        UNROLL
        for (u32 j = 0; j < 4; j++) multiply(c[i][j], a, b[j]);
      }
    }
  }
  f64 *out = o.g + ((i64)segment * plan.tiles + tile) * TILE;
  UNROLL
  for (u32 i = 0; i < Steps; i++)
    UNROLL
    for (u32 j = 0; j < 4; j++)
      UNROLL
      for (u32 h = 0; h < 2; h++) {
        f64x2 v = {c[i][j][2 * h], c[i][j][2 * h + 1]};
        *(f64x2 *)(out + (part.row + i * 16 + h * 8 + g) * PANEL + part.column + j * 8 + 2 * q) = v;
      }
  if (!summing) return; // the whole warp
  UNROLL
  for (u32 i = 0; i < Steps; i++)
    UNROLL
    for (u32 h = 0; h < 2; h++) {
      f64 v = sums[i][h];
      v += shuffle(v, lane ^ 1);
      v += shuffle(v, lane ^ 2);
      u32 column = ti * PANEL + part.row + i * 16 + h * 8 + g;
      if (q == 0 && column < plan.columns) o.sums[(i64)segment * plan.columns + column] = v;
    }
}

template <bool Centred> DEVICE void gram(const Gram &o, const Plan &plan) {
  const u32 tile = block_id() % plan.tiles, segment = block_id() / plan.tiles, warp = warp_id();
  u32 ti, tj;
  tile_at(plan, tile, ti, tj);
  if (ti == tj) gram_tile<3, Centred>(o, plan, tile, segment, ti, tj, diagonal_part(warp));
  else gram_tile<4, Centred>(o, plan, tile, segment, ti, tj, {warp % 2 * 64, warp / 2 * 32});
}

KERNEL(256) correl_gram(const f64 *x, const f64 *y, i64 ld, Plan plan, f64 *g) { gram<false>({x, y, ld, nullptr, g, nullptr}, plan); }
KERNEL(256) correl_gram_centred(const f64 *x, i64 ld, Plan plan, const f64 *centres, f64 *g, f64 *sums) {
  gram<true>({x, x, ld, centres, g, sums}, plan);
}
EXPORT(correl_gram)
EXPORT(correl_gram_centred)
#endif
