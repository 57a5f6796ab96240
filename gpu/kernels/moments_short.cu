// moments_short: count, sum, min, max, m2, first, last of each run, for runs of up to a few dozen values.
//
// In: values (f64), runs (group_runs.h), rows of open groups (OPEN_VALUES f64 per series). Out: the columns asked for, a row per run.
// Bytes: 8 a measure, 4 and 8 per column a run. Launch: 128 threads, a block for each 128 runs.
//
// A block's runs lie one after the other: it copies 2,048 values at a time to shared memory, in whole lines, and there each
// thread walks its own run from the first value to the last. So sums and m2 are accumulated in order of time, one value
// after the other, as on the CPU: the same bits. Places in shared memory have one of padding per 16: runs of 8 or 16
// values would otherwise meet in the same bank.
#include "moments.h"
#include "staging.h"

constexpr u32 SHORT_BLOCKS = 10, SHORT_ROW = 4; // values that a thread takes without a branch

template <bool WithM2> DEVICE void moments_short(const f64 *values, const Runs &runs, const f64 *open, const Columns &out) {
  SHARED f64 staged[STAGE_PLACES];
  const u32 total = load(runs.total), block = block_id() * STAGE_THREADS, t = thread_id(), r = block + t;
  if (block >= total) return;
  const u32 from = load(runs.begins + block) & ~SERIES_FIRST;
  const u32 to = load(runs.begins + MIN(total, block + STAGE_THREADS)) & ~SERIES_FIRST;
  Run run = {to, to, -1, false};
  if (r < total) run = run_at(runs, r);
  Moments m = run.continued >= 0 ? continued(open + (u64)run.continued * OPEN_VALUES) : none();
  const bool fresh = m.count == 0;
  for (u32 at = from; at < to; at += STAGE_VALUES) {
    stage(staged, values + at, MIN(to - at, STAGE_VALUES));
    u32 low = MAX(run.begin, at) - at, high = MIN(run.end, at + STAGE_VALUES);
    high = high > at ? high - at : 0;
    if (low < high) {
      if (fresh && run.begin >= at) m.first = staged[padded(low)];
      const f64 count = m.count, sum = m.sum, low_sum = m.low, m2 = m.m2;
      bool rare = WithM2 && count + (high - low) > ONE_STEP;
      auto take = [&](u32 i) __attribute__((always_inline)) {
        const f64 v = staged[padded(i)];
        rare |= accumulate<WithM2, 1>(m, v);
        extend(m, v);
      };
      u32 i = low;
      for (; i + SHORT_ROW <= high; i += SHORT_ROW)
#pragma unroll
        for (u32 j = 0; j < SHORT_ROW; j++) take(i + j);
      for (; i < high; i++) take(i);
      if (rare) { // once more, by division
        m.count = count, m.sum = sum, m.low = low_sum, m.m2 = m2;
        for (u32 i = low; i < high; i++) accumulate<WithM2>(m, staged[padded(i)]);
      }
      m.last = staged[padded(high - 1)];
    }
    sync_block();
  }
  if (r < total) write(out, r, m), write_sums(out, runs, r, m);
}

KERNEL_BLOCKS(STAGE_THREADS, SHORT_BLOCKS) moments_short_plain(const f64 *values, Runs runs, const f64 *open, Columns out) {
  moments_short<false>(values, runs, open, out);
}
KERNEL_BLOCKS(STAGE_THREADS, SHORT_BLOCKS) moments_short_m2(const f64 *values, Runs runs, const f64 *open, Columns out) {
  moments_short<true>(values, runs, open, out);
}
EXPORT(moments_short_plain)
EXPORT(moments_short_m2)
