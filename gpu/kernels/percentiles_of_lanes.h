// Any percentiles of a run whose values a warp sorts in registers, K of them a lane.
#pragma once
#include "ordered_values.h"

// keep leaves the smaller of two values with the lower lane, and the larger one with the upper.
DEVICE f64 keep(f64 mine, f64 other, bool upper) { return (mine > other) != upper ? other : mine; }

// merge orders pairs of lanes' values that are a rising and a falling row together, lanes by apart first: the second half of a
// bitonic merge, from `by` lanes down to a lane's own values.
template <u32 K> DEVICE void merge(f64 (&v)[K], u32 by) {
#pragma unroll 1
  for (; by; by /= 2) {
    const bool upper = lane_id() & by;
#pragma unroll
    for (u32 j = 0; j < K; j++) v[j] = keep(v[j], shuffle(v[j], lane_id() ^ by), upper);
  }
#pragma unroll
  for (u32 by = K / 2; by; by /= 2)
#pragma unroll
    for (u32 j = 0; j < K; j++)
      if (!(j & by)) exchange(v[j], v[j + by]);
}

// sort_lanes sorts the warp's values, ascending: value number i is K's i % K of lane i / K. Each lane sorts its own; then rows of two
// lanes are merged, of four, and so on, each with its neighbour's read backwards.
template <u32 K> DEVICE void sort_lanes(f64 (&v)[K]) {
  order<K>(v);
#pragma unroll 1
  for (u32 lanes = 2; lanes <= WARP; lanes *= 2) {
    const u32 mirror = lane_id() ^ (lanes - 1);
    const bool upper = lane_id() & lanes / 2;
#pragma unroll
    for (u32 j = 0; j < (K + 1) / 2; j++) {
      const f64 a = shuffle(v[K - 1 - j], mirror), b = shuffle(v[j], mirror);
      v[j] = keep(v[j], a, upper);
      if (K > 1) v[K - 1 - j] = keep(v[K - 1 - j], b, upper);
    }
    merge<K>(v, lanes / 4);
  }
}

// percentiles_of_lanes sorts a run of up to K values a lane in the warp's registers, and writes its percentiles.
template <u32 K> DEVICE void percentiles_of_lanes(const f64 *values, const Run &run, const Percentiles &out, u32 r) {
  const u32 n = run.end - run.begin, lane = lane_id();
  f64 v[K];
#pragma unroll
  for (u32 j = 0; j < K; j++) v[j] = j * WARP + lane < n ? load(values + run.begin + j * WARP + lane) : INFINITE;
  u32 nans = 0, negatives = 0; // counted before: of equal values, keep may keep one twice
#pragma unroll
  for (u32 j = 0; j < K; j++) {
    nans += ones(ballot(without_nan(v[j])));
    negatives += ones(ballot(negative(v[j])));
  }
  sort_lanes<K>(v);
  auto sorted = [&](u32 i) __attribute__((always_inline)) {
    f64 mine = v[0];
#pragma unroll
    for (u32 j = 1; j < K; j++) mine = i % K == j ? v[j] : mine;
    return shuffle(mine, i / K);
  };
  for (u32 k = 0; k < out.number; k++) {
    const f64 p = percentile(n, nans, load(out.fractions + k), sorted, [&] { return negatives; });
    if (lane == 0) *percentile_at(out, k, r) = p;
  }
}
