// percentiles_short: any percentiles of each run of up to 16 values; longer runs are put on a list for percentiles_warp and percentiles_long.
//
//   rank = (n-1) * fraction; the value there, or low * (ceil-rank) + high * (rank-floor) of its neighbours; NaN last
//
// In: values (f64), runs (group_runs.h), fractions. Out: per fraction a column (f64) with a row per run; a list of runs left over.
// Bytes: 8 a measure, 4 and 8 per fraction a run; 4 a run where all are longer. Launch: 128 threads, a block for each
// `runs_per_block` runs, which should hold about a thousand values together, and 128 at most.
//
// A block copies as many whole runs to shared memory as fit, and each thread sorts a run in registers, by a network of 8, 12 or
// 16 places (Batcher's merge exchange): no thread waits for another, and no place is known at run time only. Sorted values go
// back to shared memory, a column a thread. Comparing numbers as such, not keys of theirs, leaves the integer units half of the work.
#include "ordered_values.h"
#include "staging.h"

constexpr u32 PLACE_LONGEST = 16;

// Leftover is a list with a place for each run, where longer ones are put in no order: those for percentiles_warp from the front, the
// others from the back. number[0] and number[1] say how many; they are 0 before the launch.
struct Leftover {
  u32 *runs;
  u32 *number;
};

// put appends run r of those lanes that want it to a list of so many places. For a whole warp.
DEVICE void put(const Leftover &left, u32 places, u32 r, bool want, bool back) {
  const u32 all = ballot(want);
  if (!all) return;
  const u32 first = (u32)__builtin_ctz(all);
  u32 at = lane_id() == first ? atomic_add(left.number + back, ones(all)) : 0;
  at = shuffle(at, first) + ones(all & lanes_below());
  if (want) left.runs[back ? places - 1 - at : at] = r;
}

// values_of reads a run's values from their places, infinity behind the last and for NaN; it returns the number of NaN.
DEVICE u32 values_of(f64 (&v)[PLACE_LONGEST], const f64 *staged, u32 from, u32 length) {
  bool nan = false;
#pragma unroll
  for (u32 i = 0; i < PLACE_LONGEST; i++) {
    v[i] = i < length ? staged[padded(from + i)] : INFINITE;
    nan |= v[i] != v[i];
  }
  u32 nans = 0;
  if (nan)
#pragma unroll
    for (u32 i = 0; i < PLACE_LONGEST; i++) nans += without_nan(v[i]);
  return nans;
}

// negatives_of counts the values with the sign, which are in a thread's column.
DEVICE u32 negatives_of(const f64 *column, u32 length) {
  u32 n = 0;
  for (u32 i = 0; i < length; i++) n += negative(column[i * STAGE_THREADS]);
  return n;
}

// order_run sorts the first N values into a column of a thread's own.
template <u32 N> DEVICE void order_run(f64 (&v)[PLACE_LONGEST], f64 *column) {
  order<N>(v);
#pragma unroll
  for (u32 i = 0; i < N; i++) column[i * STAGE_THREADS] = v[i];
}

KERNEL(STAGE_THREADS) percentiles_short(const f64 *values, Runs runs, Percentiles out, Leftover left, u32 runs_per_block) {
  SHARED f64 staged[STAGE_PLACES];
  SHARED u32 counts, end_;
  const u32 total = load(runs.total), t = thread_id();
  if ((u64)block_id() * runs_per_block >= total) return;
  u32 r = block_id() * runs_per_block;
  const u32 last = MIN(total, r + runs_per_block);
  while (r < last) {
    if (t == 0) counts = 0;
    const u32 from = load(runs.begins + r) & ~SERIES_FIRST;
    Run run = {from, from, -1, false};
    if (r + t < last) run = run_at(runs, r + t);
    u32 length = run.end - run.begin;
    sync_block();
    const bool fits = r + t < last && (run.end - from <= STAGE_VALUES || t == 0);
    const u32 number = ones(ballot(fits)) | ones(ballot(fits && length <= PLACE_LONGEST)) << 16;
    if (lane_id() == 0) atomic_add(&counts, number);
    sync_block();
    const u32 taken = counts & 0xffff; // runs r to r + taken fit shared memory together, or are one that does not; the rest, next time
    const bool mine = t < taken, small = mine && length <= PLACE_LONGEST;
    put(left, out.stride, r + t, mine && !small && length <= WARP_LONGEST, false);
    put(left, out.stride, r + t, mine && !small && length > WARP_LONGEST, true);
    if (counts >> 16) {
      if (t == taken - 1) end_ = run.end - from;
      sync_block();
      stage(staged, values + from, end_);
      if (!small) length = 0;
      f64 v[PLACE_LONGEST];
      const u32 nans = values_of(v, staged, run.begin - from, length);
      sync_block(); // all have their values
      f64 *column = staged + t;
      if (ballot(length > 12)) order_run<PLACE_LONGEST>(v, column);
      else if (ballot(length > 8)) order_run<12>(v, column);
      else order_run<8>(v, column);
      if (small)
        for (u32 k = 0; k < out.number; k++)
          *percentile_at(out, k, r + t) = percentile(
              length, nans, load(out.fractions + k), [&](u32 i) { return column[i * STAGE_THREADS]; }, [&] { return negatives_of(column, length); });
    }
    sync_block();
    r += taken;
  }
}
EXPORT(percentiles_short)
