// percentiles_short: any percentiles of each run of up to 16 values; longer runs are put on a list for percentiles_long.
//
//   rank = (n-1) * fraction; the value there, or low * (ceil-rank) + high * (rank-floor) of its neighbours; NaN last
//
// In: values (f64), runs (runs.h), fractions. Out: per fraction a column (f64) with a row per run; a list of runs left over.
// Bytes: 8 a measure, 4 and 8 per fraction a run. Launch: 128 threads, a block for each `runs_per_block` runs, which should
// hold about a thousand values together, and 128 at most.
//
// A block copies as many whole runs to shared memory as fit, and each thread sorts a run in registers, by a network of 8, 12 or
// 16 places (Batcher's merge exchange): no thread waits for another, and no place is known at run time only. Sorted values go
// back to shared memory, a column a thread. Comparing numbers as such, not keys of theirs, leaves the integer units half of the work.
#include "order.h"

constexpr u32 PLACE_THREADS = 128, PLACE_VALUES = 2048, PLACE_LONGEST = 16;
DEVICE u32 spread(u32 i) { return i + i / 16; } // places of 16 runs of 16 values would meet in the same bank

// Leftover is the list of runs that are too long, in no order; *number is 0 before the launch.
struct Leftover {
  u32 *runs;
  u32 *number;
};

// values_of reads a run's values from their spread places, infinity behind the last and for NaN; it returns the number of NaN.
DEVICE u32 values_of(f64 (&v)[PLACE_LONGEST], const f64 *staged, u32 from, u32 length) {
  bool nan = false;
#pragma unroll
  for (u32 i = 0; i < PLACE_LONGEST; i++) {
    v[i] = i < length ? staged[spread(from + i)] : INFINITE;
    nan |= v[i] != v[i];
  }
  u32 nans = 0;
  if (nan)
#pragma unroll
    for (u32 i = 0; i < PLACE_LONGEST; i++) nans += without_nan(v[i]);
  return nans;
}

// order_run sorts the first N values into a column of a thread's own.
template <u32 N> DEVICE void order_run(f64 (&v)[PLACE_LONGEST], f64 *column) {
  order<N>(v);
#pragma unroll
  for (u32 i = 0; i < N; i++) column[i * PLACE_THREADS] = v[i];
}

KERNEL(PLACE_THREADS) percentiles_short(const f64 *values, Runs runs, Percentiles out, Leftover left, u32 runs_per_block) {
  SHARED f64 staged[PLACE_VALUES + PLACE_VALUES / 16];
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
      if (i < n) staged[spread(i)] = load(values + from + i);
    }
    sync_block();
    u32 length = fits ? run.end - run.begin : 0;
    if (length > PLACE_LONGEST) {
      left.runs[atomic_add(left.number, 1)] = r + t;
      fits = false;
      length = 0;
    }
    f64 v[PLACE_LONGEST];
    const u32 nans = values_of(v, staged, run.begin - from, length);
    sync_block(); // all have their values
    f64 *column = staged + t;
    if (ballot(length > 12)) order_run<PLACE_LONGEST>(v, column);
    else if (ballot(length > 8)) order_run<12>(v, column);
    else order_run<8>(v, column);
    if (fits)
      for (u32 k = 0; k < out.number; k++)
        *percentile_at(out, k, r + t) = percentile(length, nans, load(out.fractions + k), [&](u32 i) { return column[i * PLACE_THREADS]; });
    sync_block();
    r += taken;
  }
}
EXPORT(percentiles_short)
