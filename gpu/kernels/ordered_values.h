// Values as integers of the same order, and percentiles of sorted ones: the twin of carbonara's percentile.go.
#pragma once
#include "group_runs.h"

// Percentiles says what to compute: the fractions (p/100) asked for, and where their columns of a row per run are.
struct Percentiles {
  const f64 *fractions; // [number]
  f64 *columns;         // one after the other
  u32 stride;           // rows from one column to the next
  u32 number;
};
constexpr u32 WARP_LONGEST = 128; // values of a run for percentiles_warp
DEVICE f64 *percentile_at(const Percentiles &out, u32 k, u32 r) { return out.columns + (u64)k * out.stride + r; }

// key_of orders as numbers do, -0 below +0, NaN last.
constexpr i64 LAST_KEY = 0x7fffffffffffffff;
DEVICE i64 key_of(f64 v) {
  i64 b = bits_of(v);
  return v != v ? LAST_KEY : b ^ (i64)((u64)(b >> 63) >> 1);
}
DEVICE f64 value_of_key(i64 k) { return value_of(k ^ (i64)((u64)(k >> 63) >> 1)); }

// Rank is where a percentile of n > 0 values lies: between value number low and the next, or at low if both weights are 0.
struct Rank {
  u32 low;
  f64 weight_low, weight_high;
};
DEVICE Rank rank_of(u32 n, f64 fraction) {
  f64 rank = (f64)(n - 1) * fraction, floor = __builtin_floor(rank);
  if (floor == rank) return {(u32)floor, 0, 0};
  return {(u32)floor, floor + 1 - rank, rank - floor};
}
DEVICE bool whole(const Rank &r) { return r.weight_high == 0; }
DEVICE f64 between(const Rank &r, f64 low, f64 high) { return low * r.weight_low + high * r.weight_high; }

// negative is 1 for a value with the sign, -0 among them.
DEVICE u32 negative(f64 v) { return (u32)((u64)bits_of(v) >> 63); }

// zero_at returns v, the value at a rank; of zeros, which compare as equal, those with the sign come first. negatives() says how many
// values have it.
template <class Negatives> DEVICE f64 zero_at(f64 v, u32 rank, const Negatives &negatives) {
  return v == 0 ? (rank < negatives() ? -0.0 : 0.0) : v;
}

// percentile of n sorted values, of which the last so many stand for NaN.
template <class Sorted, class Negatives>
DEVICE f64 percentile(u32 n, u32 nans, f64 fraction, const Sorted &sorted, const Negatives &negatives) {
  if (n == 0) return not_a_number();
  const Rank r = rank_of(n, fraction);
  const u32 high = r.low + !whole(r);
  if (high >= n - nans) return not_a_number();
  const f64 low = zero_at(sorted(r.low), r.low, negatives);
  return whole(r) ? low : between(r, low, zero_at(sorted(high), high, negatives));
}

// What sorts last; NaN is put there, too, and counted: without_nan tells whether it was one.
constexpr f64 INFINITE = __builtin_inf();
DEVICE bool without_nan(f64 &v) {
  const bool nan = v != v;
  if (nan) v = INFINITE;
  return nan;
}

// exchange puts two values in order.
DEVICE void exchange(f64 &a, f64 &b) {
  const f64 x = a, y = b;
  const bool swap = x > y;
  a = swap ? y : x;
  b = swap ? x : y;
}

// order sorts the first N values, ascending, by Batcher's merge exchange.
template <u32 N, u32 M> DEVICE void order(f64 (&v)[M]) {
#pragma unroll
  for (u32 p = 1; p < N; p *= 2)
#pragma unroll
    for (u32 by = p; by >= 1; by /= 2)
#pragma unroll
      for (u32 j = by % p; j + by < N; j += 2 * by)
#pragma unroll
        for (u32 i = 0; i < by; i++)
          if (i + j + by < N && (i + j) / (2 * p) == (i + j + by) / (2 * p)) exchange(v[i + j], v[i + j + by]);
}
