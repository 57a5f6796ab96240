// percentiles_short: any percentiles of each run of up to 32 values; longer runs are put on a list for percentiles_long.
//
//   rank = (n-1) * fraction; the value there, or low * (ceil-rank) + high * (rank-floor) of its neighbours; NaN last
//
// In: values (f64), runs (runs.h), fractions. Out: per fraction a column (f64) with a row per run; a list of runs left over.
// Bytes: 8 a measure, 4 and 8 per fraction a run. Launch: 128 threads, a block for each `runs_per_block` runs, which should
// hold about a thousand values together, and 128 at most.
//
// A block copies as many whole runs to shared memory as fit, and each thread takes values, not runs: a value's place in its
// run is the number of smaller ones, equal ones counted in order. Placing by counting needs no exchange between threads,
// and neighbours read the same address.
#include "order.h"

constexpr u32 PLACE_THREADS = 128, PLACE_VALUES = 2048, PLACE_LONGEST = 32;
constexpr u8 NOBODY = 255; // owns a first value that is none

// Leftover is the list of runs that are too long, in no order; *number is 0 before the launch.
struct Leftover {
  u32 *runs;
  u32 *number;
};

KERNEL(PLACE_THREADS) percentiles_short(const f64 *values, Runs runs, Percentiles out, Leftover left, u32 runs_per_block) {
  SHARED i64 keys[PLACE_VALUES], sorted[PLACE_VALUES];
  SHARED u32 begins[PLACE_THREADS], ends[PLACE_THREADS], fitting, end_;
  SHARED u8 owner[PLACE_VALUES];
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
    bool longer = fits && run.end - run.begin > PLACE_LONGEST;
    if (fits) {
      begins[t] = run.begin - from;
      ends[t] = run.end - from;
      if (longer) left.runs[atomic_add(left.number, 1)] = r + t;
      if (run.skipped) owner[run.begin - 1 - from] = NOBODY;
      for (u32 p = run.begin; p < run.end; p++) owner[p - from] = (u8)t;
      if (t == taken - 1) end_ = run.end - from;
    }
    sync_block();
    const u32 n = end_;
    for (u32 i = t; i < n; i += PLACE_THREADS) keys[i] = key_of(load(values + from + i));
    sync_block();
    for (u32 i = t; i < n; i += PLACE_THREADS) {
      if (owner[i] == NOBODY) continue;
      u32 begin = begins[owner[i]], end = ends[owner[i]];
      if (end - begin > PLACE_LONGEST) continue;
      i64 key = keys[i];
      u32 place = begin;
      for (u32 j = begin; j < i; j++) place += keys[j] <= key;
      for (u32 j = i + 1; j < end; j++) place += keys[j] < key;
      sorted[place] = key;
    }
    sync_block();
    if (fits && !longer)
      for (u32 k = 0; k < out.number; k++)
        *percentile_at(out, k, r + t) = percentile(sorted + (run.begin - from), run.end - run.begin, load(out.fractions + k));
    sync_block();
    r += taken;
  }
}
EXPORT(percentiles_short)
