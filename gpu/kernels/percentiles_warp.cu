// percentiles_warp: any percentiles of runs of up to 128 values, which percentiles_short left over.
//
// In: values (f64), runs (group_runs.h), fractions, the list of runs. Out: per fraction a column (f64) with a row per run.
// Bytes: 8 a measure, 8 and 8 per fraction a run. Launch: 128 threads, any number of blocks: each warp takes one run of the list at a
// time, and sorts its values in registers. Apart from percentiles_long as it takes few: many warps hide how long values take to come.
#include "percentiles_of_lanes.h"

constexpr u32 WARP_THREADS = 128, WARP_BLOCKS = 12;

KERNEL_BLOCKS(WARP_THREADS, WARP_BLOCKS) percentiles_warp(const f64 *values, Runs runs, Percentiles out, const u32 *list, const u32 *number) {
  const u32 todo = load(number), warps = grid_size() * (WARP_THREADS / WARP);
  for (u32 i = block_id() * (WARP_THREADS / WARP) + warp_id(); i < todo; i += warps) {
    const u32 r = load(list + i);
    const Run run = run_at(runs, r);
    const u32 n = run.end - run.begin;
    if (n <= 1 * WARP) percentiles_of_lanes<1>(values, run, out, r);
    else if (n <= 2 * WARP) percentiles_of_lanes<2>(values, run, out, r);
    else percentiles_of_lanes<WARP_LONGEST / WARP>(values, run, out, r);
  }
}
EXPORT(percentiles_warp)
