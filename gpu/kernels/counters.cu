// counters: what each run has of a counter: the number of resets within it, the sum of the values before them, and the times
// of its first and last measure, in seconds since the start of its group. The twin of carbonara's counter.go, bit for bit.
//
//   p in the run is a reset  <=>  v[p] < v[p-1], which lies in the same run or is the last value of the group it continues
//
// In: values (f64), runs (group_runs.h), starts of their groups (i64), times (below), rows of open groups: OPEN_VALUES f64 per
// series, and of counters resets, reset sum and first time. Out: the columns asked for, a row per run. Bytes: 8 a measure, 12 and 8
// per column a run. Resets are rare: their sum is added up in order of time, each by all lanes.
// Launch: counters_short 128 threads, a run each; counters_long 128 threads, a warp each.
#include "moments.h"

constexpr u32 COUNTER_THREADS = 128, COUNTER_OPEN = 3;

// Times are those of the measures, in the layouts of segment.cu.
struct Times {
  const void *timestamps;
  const i64 *base, *unit; // [series]
  u32 layout;             // 0 regular, 1 offsets, 2 timestamps
};

struct CounterColumns {
  f64 *resets, *reset_sum, *first_time, *last_time;
};

DEVICE i64 time_of(const Times &times, const Runs &runs, u32 s, u32 p) {
  if (times.layout == 2) return load((const i64 *)times.timestamps + p);
  const u32 place = times.layout == 1 ? load((const u32 *)times.timestamps + p) : p - load(runs.first + s);
  return load(times.base + s) + (i64)place * load(times.unit + s);
}

struct Counter {
  f64 resets, sum, previous, first_time;
  bool continued;
};

// counter_at returns the state before a run's first value.
DEVICE Counter counter_at(const f64 *values, const Run &run, const f64 *open, const f64 *counter_open) {
  if (run.continued >= 0) {
    const f64 *row = open + (u64)run.continued * OPEN_VALUES, *more = counter_open + (u64)run.continued * COUNTER_OPEN;
    if (row[COUNT] > 0) return {more[0], more[1], row[LAST], more[2], true};
  }
  return {0, 0, load(values + run.begin), 0, false};
}

DEVICE void write_counter(const CounterColumns &out, u32 r, const Counter &c, const Run &run, const Runs &runs, const i64 *starts,
                          const Times &times) {
  if (out.resets) out.resets[r] = c.resets;
  if (out.reset_sum) out.reset_sum[r] = c.sum;
  if (!out.first_time && !out.last_time) return;
  const u32 s = times.layout == 2 ? 0 : series_of(runs.first, runs.series, run.begin);
  auto seconds = [&](u32 p) { return divided((f64)(time_of(times, runs, s, p) - starts[r]), 1e9); };
  if (out.first_time) out.first_time[r] = c.continued ? c.first_time : seconds(run.begin);
  if (out.last_time) out.last_time[r] = seconds(run.end - 1);
}

KERNEL(COUNTER_THREADS) counters_short(const f64 *values, Runs runs, const i64 *starts, Times times, const f64 *open,
                                       const f64 *counter_open, CounterColumns out) {
  const u32 r = block_id() * COUNTER_THREADS + thread_id();
  if (r >= load(runs.total)) return;
  const Run run = run_at(runs, r);
  Counter c = counter_at(values, run, open, counter_open);
  for (u32 p = run.begin; p < run.end; p++) {
    const f64 v = load(values + p);
    if (v < c.previous) c.resets = c.resets + 1, c.sum = c.sum + c.previous;
    c.previous = v;
  }
  write_counter(out, r, c, run, runs, starts, times);
}

KERNEL(COUNTER_THREADS) counters_long(const f64 *values, Runs runs, const i64 *starts, Times times, const f64 *open,
                                      const f64 *counter_open, CounterColumns out) {
  const u32 r = block_id() * (COUNTER_THREADS / WARP) + warp_id(), lane = lane_id();
  if (r >= load(runs.total)) return;
  const Run run = run_at(runs, r);
  Counter c = counter_at(values, run, open, counter_open);
  for (u32 at = run.begin; at < run.end; at += WARP) {
    const bool mine = at + lane < run.end;
    const f64 v = mine ? load(values + at + lane) : 0;
    f64 before = value_of((i64)shuffle_up((u64)bits_of(v), 1));
    if (lane == 0) before = c.previous;
    u32 resets = ballot(mine && v < before);
    c.resets = c.resets + ones(resets);
    for (; resets; resets &= resets - 1) c.sum = c.sum + shuffle(before, (u32)__builtin_ctz(resets));
    c.previous = shuffle(v, MIN(run.end - at, WARP) - 1);
  }
  if (lane == 0) write_counter(out, r, c, run, runs, starts, times);
}
EXPORT(counters_short)
EXPORT(counters_long)
