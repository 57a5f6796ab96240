// correl_coefficients: from moments to each pair's coefficient, at the lag where it is strongest.
//
//   r = m_xy / sqrt(m_xx * m_yy), within [-1, 1]; NaN where a column is constant or too few rows are shared. Where the product leaves
//   the range of f64, or comes near, powers of two are taken out first
//
// In: moments of pairs and columns at every lag: lags in the order 0, 1, -1, 2, -2 …, of equal strengths the first counts. Out: r
// ([tile][element], NaN where there is no pair), the lag's number, and with gaps the shared rows. Bytes: 8 to 32 a pair and lag, 8 to
// 20 a pair. Launch: 256 threads, one an element, 64 blocks a tile.
#include "correl.h"

constexpr u32 COEFFICIENT_BLOCKS = TILE / 256;
enum { OF_N, OF_MOMENT, OF_X, OF_Y }; // as correl_merge_gaps.cu has them

struct Lags {
  const f64 *moments;          // [lag][tile][element]; with gaps [lag][plane][tile][element]
  const f64 *columns;          // [lag][side][state]; the first lag has one side in use
  u32 lags, gaps, planes;      // planes of state a lag
  u32 sides;                   // one without lags
  i64 rows, min_overlap;
};

struct Coefficients {
  f64 *r;
  u32 *lag;     // null without lags
  f64 *overlap; // null without gaps
};

// exponent takes the power of two out of a positive number: it lies in [1, 2) then.
DEVICE i32 exponent(f64 &v) {
  i32 scaled = 0;
  if (v < 0x1p-1022) v *= 0x1p+64, scaled = -64;
  u64 bits = (u64)bits_of(v);
  i32 e = (i32)(bits >> 52) - 1023;
  v = value_of((i64)((bits & ~(0x7FFull << 52)) | 1023ull << 52));
  return e + scaled;
}

// power is 2^e, for e within [-1022, 1023].
DEVICE f64 power(i32 e) { return value_of((i64)(e + 1023) << 52); }

// coefficient is the twin of that in correlate/pair.go. The root of a square is exact: equal columns give exactly 1.
DEVICE f64 coefficient(f64 xy, f64 xx, f64 yy) {
  f64 square = xx * yy, r;
  if (square > 0x1p-900 && square < 0x1p+900) r = xy / __builtin_sqrt(square);
  else { // digits of the product are lost, or all: without their exponents they are not
    i32 e = exponent(xx) + exponent(yy);
    if (e & 1) xx *= 2, e--;
    e = -e / 2;
    r = xy * power(e / 2) * power(e - e / 2) / __builtin_sqrt(xx * yy);
  }
  return MAX(-1.0, MIN(1.0, r));
}

KERNEL(256) correl_coefficients(Plan plan, Lags in, Coefficients out) {
  const u32 tile = block_id() / COEFFICIENT_BLOCKS, element = block_id() % COEFFICIENT_BLOCKS * 256 + thread_id();
  const Pair pair = pair_at(plan, tile, element);
  const u64 at = (u64)tile * TILE + element, step = (u64)plan.tiles * TILE;
  f64 best = not_a_number(), strongest = -1, shared = 0;
  u32 lag = 0;
  for (u32 k = 0; pair.some && k < in.lags; k++) {
    const f64 *moments = in.moments + k * in.planes * step + at;
    f64 n, xy, xx, yy;
    if (in.gaps) n = moments[OF_N * step], xy = moments[OF_MOMENT * step], xx = moments[OF_X * step], yy = moments[OF_Y * step];
    else {
      const f64 *x = in.columns + (u64)k * in.sides * 4 * plan.columns, *y = x + (k ? (in.sides - 1) * 4 * plan.columns : 0);
      n = x[pair.i], xy = *moments, xx = x[3 * plan.columns + pair.i], yy = y[3 * plan.columns + pair.j];
    }
    f64 r = not_a_number();
    if (n >= (f64)in.min_overlap && xx > 0 && yy > 0) r = coefficient(xy, xx, yy);
    f64 strength = r != r ? -1 : r < 0 ? -r : r;
    if (k == 0 || strength > strongest) best = r, strongest = strength, shared = n, lag = k;
  }
  out.r[at] = best;
  if (out.lag) out.lag[at] = lag;
  if (out.overlap) out.overlap[at] = shared;
}
EXPORT(correl_coefficients)
