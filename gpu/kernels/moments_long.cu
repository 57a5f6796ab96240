// moments_long: count, sum, min, max, m2, first, last of each run, for runs of more than a few dozen values.
//
// In: values (f64), runs (group_runs.h), rows of open groups (OPEN_VALUES f64 per series). Out: the columns asked for, a row per run.
// Bytes: 8 a measure, 4 and 8 per column a run. Launch: 128 threads, a warp for each 32 runs.
//
// A lane walks a run from the first value to the last: sums and m2 are accumulated in order of time, as on the CPU: the
// same bits. Runs lie far apart, so the warp reads 16 values of each run together, half a warp from each, and turns them in
// shared memory; while it walks them, the next 16 of each run are on their way. They are counted from the run's first: whole
// lines would cost a second window that is not full.
#include "moments.h"

constexpr u32 LONG_THREADS = 128, LONG_VALUES = 16, LONG_PITCH = LONG_VALUES + 1;

// fetch loads 16 values of each of the warp's runs, from at (of this lane's run; DONE if it has none left).
constexpr u32 DONE = ~0u;
DEVICE void fetch(f64 (&v)[LONG_VALUES], const f64 *values, u32 n, u32 at) {
#pragma unroll
  for (u32 k = 0; k < LONG_VALUES; k++) {
    u32 from = shuffle(at, k * 2 + lane_id() / LONG_VALUES), p = from + lane_id() % LONG_VALUES;
    v[k] = from != DONE && p < n ? load(values + p) : 0;
  }
}

template <bool WithM2> DEVICE void moments_long(const f64 *values, const Runs &runs, const f64 *open, const Columns &out) {
  SHARED f64 turned[LONG_THREADS / WARP][WARP * LONG_PITCH];
  const u32 total = load(runs.total), lane = lane_id(), base = (block_id() * (LONG_THREADS / WARP) + warp_id()) * WARP, r = base + lane;
  if (base >= total) return;
  const u32 n = load(runs.begins + total);
  f64 *tile = turned[warp_id()];
  Run run = {0, 0, -1, false};
  if (r < total) run = run_at(runs, r);
  Moments m = run.continued >= 0 ? continued(open + (u64)run.continued * OPEN_VALUES) : none();
  const bool fresh = m.count == 0;
  u32 at = run.begin < run.end ? run.begin : DONE;
  f64 v[LONG_VALUES];
  fetch(v, values, n, at);
  while (ballot(at != DONE)) {
#pragma unroll
    for (u32 k = 0; k < LONG_VALUES; k++) tile[(k * 2 + lane / LONG_VALUES) * LONG_PITCH + lane % LONG_VALUES] = v[k];
    sync_warp();
    u32 next = at != DONE && run.end - at > LONG_VALUES ? at + LONG_VALUES : DONE;
    fetch(v, values, n, next);
    if (at != DONE) {
      const f64 *mine = tile + lane * LONG_PITCH;
      const u32 number = MIN(run.end - at, LONG_VALUES);
      if (fresh && at == run.begin) m.first = mine[0];
      m.last = mine[number - 1];
      if (number == LONG_VALUES) {
        accumulate_row<WithM2, LONG_VALUES>(m, mine);
#pragma unroll
        for (u32 i = 0; i < LONG_VALUES; i++) extend(m, mine[i]);
      } else {
        for (u32 i = 0; i < number; i++) accumulate<WithM2>(m, mine[i]), extend(m, mine[i]);
      }
    }
    sync_warp();
    at = next;
  }
  if (r < total) write(out, r, m), write_sums(out, runs, r, m);
}

KERNEL_BLOCKS(LONG_THREADS, 4) moments_long_plain(const f64 *values, Runs runs, const f64 *open, Columns out) {
  moments_long<false>(values, runs, open, out);
}
KERNEL_BLOCKS(LONG_THREADS, 4) moments_long_m2(const f64 *values, Runs runs, const f64 *open, Columns out) {
  moments_long<true>(values, runs, open, out);
}
EXPORT(moments_long_plain)
EXPORT(moments_long_m2)
