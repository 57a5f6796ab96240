// percentiles_long: any percentiles of the runs that percentiles_short left over; of any length.
//
// In: values (f64), runs (runs.h), fractions, the list of runs. Out: per fraction a column (f64) with a row per run.
// Bytes: 8 a measure for runs of up to 4,096 values; longer ones are read nine times a fraction. Launch: 128 threads, any
// number of blocks: each takes four runs of the list at a time.
//
// Up to 1,024 values are sorted by a warp in registers, up to 4,096 by the block in shared memory, by bitonic networks of the
// next power of two. Of longer runs the value of each wanted rank is found digit by digit: count the values by eight bits of
// their key, among those that share the digits found so far.
#include "order.h"

constexpr u32 SORT_THREADS = 128, SORT_VALUES = 4096, SORT_WARPS = SORT_THREADS / WARP, SORT_WARP_VALUES = 1024;

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
  u32 nans = 0;
#pragma unroll
  for (u32 j = 0; j < K; j++) nans += ones(ballot(without_nan(v[j])));
  sort_lanes<K>(v);
  auto sorted = [&](u32 i) __attribute__((always_inline)) {
    f64 mine = v[0];
#pragma unroll
    for (u32 j = 1; j < K; j++) mine = i % K == j ? v[j] : mine;
    return shuffle(mine, i / K);
  };
  for (u32 k = 0; k < out.number; k++) {
    const f64 p = percentile(n, nans, load(out.fractions + k), sorted);
    if (lane == 0) *percentile_at(out, k, r) = p;
  }
}

DEVICE void percentiles_of_warp(const f64 *values, const Run &run, const Percentiles &out, u32 r) {
  const u32 n = run.end - run.begin;
  if (n <= 1 * WARP) percentiles_of_lanes<1>(values, run, out, r);
  else if (n <= 2 * WARP) percentiles_of_lanes<2>(values, run, out, r);
  else if (n <= 4 * WARP) percentiles_of_lanes<4>(values, run, out, r);
  else if (n <= 8 * WARP) percentiles_of_lanes<8>(values, run, out, r);
  else if (n <= 16 * WARP) percentiles_of_lanes<16>(values, run, out, r);
  else percentiles_of_lanes<32>(values, run, out, r);
}

// sort orders n (a power of two) values in shared memory, ascending. For the whole block.
DEVICE void sort(f64 *values, u32 n) {
  for (u32 size = 2; size <= n; size *= 2)
    for (u32 by = size / 2; by; by /= 2) {
      sync_block();
      for (u32 i = thread_id(); i < n / 2; i += SORT_THREADS) {
        u32 low = 2 * i - (i & (by - 1)), high = low + by; // the pairs whose places differ in bit `by`
        f64 a = values[low], b = values[high];
        if ((a > b) == ((low & size) == 0)) values[low] = b, values[high] = a;
      }
    }
  sync_block();
}

// percentiles_of_block sorts a run and writes its percentiles. *nans is shared, as sorted is.
DEVICE void percentiles_of_block(const f64 *values, const Run &run, const Percentiles &out, u32 r, f64 *sorted, u32 *nans) {
  const u32 t = thread_id(), n = run.end - run.begin;
  u32 size = 2;
  while (size < n) size *= 2;
  if (t == 0) *nans = 0;
  sync_block();
  for (u32 p = t; p < size; p += SORT_THREADS) {
    f64 v = p < n ? load(values + run.begin + p) : INFINITE;
    if (without_nan(v)) atomic_add(nans, 1);
    sorted[p] = v;
  }
  sort(sorted, size);
  for (u32 k = t; k < out.number; k += SORT_THREADS)
    *percentile_at(out, k, r) = percentile(n, *nans, load(out.fractions + k), [&](u32 i) { return sorted[i]; });
  sync_block();
}

// Selected is the key at a rank, and that at the next one.
struct Selected {
  i64 low, high;
};

// select finds them among n values. counts is shared, of 256. For the whole block.
DEVICE Selected select(const f64 *values, u32 n, u32 rank, u32 *counts, u64 *least) {
  constexpr u64 sign = 1ull << 63; // unsigned keys
  u64 found = 0;
  u32 left = rank; // among those that share the digits found
  for (i32 shift = 56; shift >= 0; shift -= 8) {
    for (u32 i = thread_id(); i < 256; i += SORT_THREADS) counts[i] = 0;
    sync_block();
    for (u32 i = thread_id(); i < n; i += SORT_THREADS) {
      u64 key = (u64)key_of(load(values + i)) ^ sign;
      if (shift == 56 || key >> (shift + 8) == found >> (shift + 8)) atomic_add(counts + (key >> shift & 255), 1);
    }
    sync_block();
    u32 digit = 0;
    while (left >= counts[digit]) left -= counts[digit++];
    found |= (u64)digit << shift;
    sync_block();
  }
  // The next one is equal if more values than up to this rank are; else the least of the larger ones.
  if (thread_id() == 0) counts[0] = 0, *least = ~0ull;
  sync_block();
  for (u32 i = thread_id(); i < n; i += SORT_THREADS) {
    u64 key = (u64)key_of(load(values + i)) ^ sign;
    if (key <= found) atomic_add(counts, 1);
    else atomic_min(least, key);
  }
  sync_block();
  Selected r = {(i64)(found ^ sign), (i64)((counts[0] > rank + 1 ? found : *least) ^ sign)};
  sync_block();
  return r;
}

KERNEL(SORT_THREADS) percentiles_long(const f64 *values, Runs runs, Percentiles out, const u32 *list, const u32 *number) {
  SHARED f64 sorted[SORT_VALUES];
  SHARED u32 counts[256], nans;
  SHARED u64 least;
  const u32 t = thread_id(), todo = load(number);
  for (u32 four = block_id() * SORT_WARPS; four < todo; four += grid_size() * SORT_WARPS) {
    if (u32 i = four + warp_id(); i < todo) {
      const u32 r = load(list + i);
      const Run run = run_at(runs, r);
      if (run.end - run.begin <= SORT_WARP_VALUES) percentiles_of_warp(values, run, out, r);
    }
    sync_block();
    for (u32 i = four; i < MIN(four + SORT_WARPS, todo); i++) {
      const u32 r = load(list + i);
      const Run run = run_at(runs, r);
      const u32 n = run.end - run.begin;
      if (n <= SORT_WARP_VALUES) continue;
      if (n <= SORT_VALUES) {
        percentiles_of_block(values, run, out, r, sorted, &nans);
        continue;
      }
      for (u32 k = 0; k < out.number; k++) {
        Rank rank = rank_of(n, load(out.fractions + k));
        Selected s = select(values + run.begin, n, rank.low, counts, &least);
        if (t == 0) {
          f64 low = value_of_key(s.low);
          *percentile_at(out, k, r) = whole(rank) ? low : between(rank, low, value_of_key(s.high));
        }
      }
    }
  }
}
EXPORT(percentiles_long)
