// percentiles_short: any percentiles of each run of up to 16 values; longer runs are put on a list for percentiles_long.
//
//   rank = (n-1) * fraction; the value there, or low * (ceil-rank) + high * (rank-floor) of its neighbours; NaN last
//
// In: values (f64), runs (runs.h), fractions. Out: per fraction a column (f64) with a row per run; a list of runs left over.
// Bytes: 8 a measure, 4 and 8 per fraction a run. Launch: 128 threads, a block for each `runs_per_block` runs, which should
// hold about a thousand values together, and 128 at most.
//
// A block copies as many whole runs to shared memory as fit, and each thread sorts a run in registers, by a network of 16
// places (Batcher's odd-even merge): no thread waits for another, and no place is known at run time only.
#include "order.h"

constexpr u32 PLACE_THREADS = 128, PLACE_VALUES = 2048, PLACE_LONGEST = 16;
DEVICE u32 spread(u32 i) { return i + i / 16; } // places of 16 runs of 16 values would meet in the same bank

// Leftover is the list of runs that are too long, in no order; *number is 0 before the launch.
struct Leftover {
  u32 *runs;
  u32 *number;
};

// order sorts N keys, ascending.
template <u32 N> DEVICE void order(i64 (&k)[N]) {
#pragma unroll
  for (u32 p = 1; p < N; p *= 2)
#pragma unroll
    for (u32 by = p; by >= 1; by /= 2)
#pragma unroll
      for (u32 j = by % p; j + by < N; j += 2 * by)
#pragma unroll
        for (u32 i = 0; i < by; i++)
          if (i + j + by < N && (i + j) / (2 * p) == (i + j + by) / (2 * p)) {
            i64 a = k[i + j], b = k[i + j + by];
            bool swap = a > b;
            k[i + j] = swap ? b : a;
            k[i + j + by] = swap ? a : b;
          }
}

// order_run sorts keys from to to (of their spread places) in place; there are N at most.
template <u32 N> DEVICE void order_run(i64 *keys, u32 from, u32 to) {
  i64 k[N];
#pragma unroll
  for (u32 i = 0; i < N; i++) k[i] = from + i < to ? keys[spread(from + i)] : LAST_KEY;
  order(k);
#pragma unroll
  for (u32 i = 0; i < N; i++)
    if (from + i < to) keys[spread(from + i)] = k[i];
}

KERNEL(PLACE_THREADS) percentiles_short(const f64 *values, Runs runs, Percentiles out, Leftover left, u32 runs_per_block) {
  SHARED i64 keys[PLACE_VALUES + PLACE_VALUES / 16];
  SHARED u32 fitting, end_;
  const u32 total = load(runs.total), t = thread_id();
  if ((u64)block_id() * runs_per_block >= total) return;
  u32 r = block_id() * runs_per_block;
  const u32 last = MIN(total, r + runs_per_block);
  while (r < last) {
    if (t == 0) fitting = 0;
    const u32 from = load(runs.begins + r) & ~SERIES_FIRST;
    Run run = {from, from, -1, false};
    if (r + t < last) run = run_at(runs, r + t);
    sync_block();
    bool fits = r + t < last && run.end - from <= PLACE_VALUES;
    u32 fit = ones(ballot(fits));
    if (lane_id() == 0) atomic_add(&fitting, fit);
    sync_block();
    const u32 taken = fitting; // runs r to r + taken lie in shared memory; the rest of the block's, next time
    if (taken == 0) {
      if (t == 0) left.runs[atomic_add(left.number, 1)] = r;
      r++;
      sync_block();
      continue;
    }
    if (t == taken - 1) end_ = run.end - from;
    sync_block();
    const u32 n = end_;
#pragma unroll
    for (u32 j = 0; j < PLACE_VALUES / PLACE_THREADS; j++) {
      u32 i = j * PLACE_THREADS + t;
      if (i < n) keys[spread(i)] = key_of(load(values + from + i));
    }
    sync_block();
    const u32 length = fits ? run.end - run.begin : 0, begin = run.begin - from;
    if (length > PLACE_LONGEST) left.runs[atomic_add(left.number, 1)] = r + t;
    else order_run<PLACE_LONGEST>(keys, begin, begin + length);
    if (fits && length <= PLACE_LONGEST)
      for (u32 k = 0; k < out.number; k++) {
        f64 p = not_a_number();
        if (length > 0) {
          Rank rank = rank_of(length, load(out.fractions + k));
          p = value_of_key(keys[spread(begin + rank.low)]);
          if (!whole(rank)) p = between(rank, p, value_of_key(keys[spread(begin + rank.low + 1)]));
        }
        *percentile_at(out, k, r + t) = p;
      }
    sync_block();
    r += taken;
  }
}
EXPORT(percentiles_short)
