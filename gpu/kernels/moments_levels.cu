// moments_levels: count, sum, m2, first, last of the runs of several granularities, each of which divides the next, reading values
// once; extremes adds the lowest and highest, from those of the finer granularity.
//
// In: values (f64), per granularity its runs (group_runs.h), in which run of the finer one each begins (segment.cu), rows of open groups
// (OPEN_VALUES f64 per series). Out: the columns asked for, a row per run. Bytes: 8 a measure, 4 and 8 per column a run.
// Launch of moments_levels: a warp for each granularity, two at least, the widest last, and a block for each 32 runs of the widest.
//
// A warp's lanes walk the values of a run of the widest granularity each, from the first to the last, and write a row wherever
// a run of the warp's own granularity ends. So each granularity's sums and m2 are accumulated in order of time, one value after
// the other, as on the CPU: the same bits. All warps walk the same values: the block reads 16 of each run together, whole lines
// of 128 bytes by half a warp, and turns them in shared memory; while it walks them, the next 16 are on their way.
#include "moments.h"

constexpr u32 LEVELS = 8, LEVEL_VALUES = 16, LEVEL_PITCH = LEVEL_VALUES + 1, LEVEL_LOADS = LEVEL_VALUES / 2;

struct Level {
  const u32 *begins, *total;
  const u32 *inner; // [runs] the run of the finer granularity that each begins with; not read of the finest
  const f64 *open;
  Columns out;
  u32 continues;
};

struct Levels {
  Level level[LEVELS];
  const u32 *first, *flags;
  u32 series, skips;
};

// Walk is a lane's way through the values.
struct Walk {
  u32 p, end;      // where it is, and the end of the widest run
  u32 run, stop;   // of its own granularity; where that ends
  u32 after, runs; // where the next one ends; number of runs
  Moments m;
};

// pass writes the row of the run that ended, and begins the next.
DEVICE void pass(Walk &w, const Level &own, f64 v) {
  write(own.out, w.run, w.m);
  w.run++;
  w.stop = w.after;
  w.after = load(own.begins + MIN(w.run + 2, w.runs)) & ~SERIES_FIRST;
  w.m = none();
  w.m.first = v;
}

template <bool WithM2> DEVICE void moments_levels(const f64 *values, const Levels &in) {
  SHARED f64 turned[2][WARP * LEVEL_PITCH];
  const u32 number = block_size() / WARP, warp = warp_id(), lane = lane_id(), r = block_id() * WARP + lane;
  const Level &own = in.level[warp], &widest = in.level[number - 1];
  const u32 total = load(widest.total);
  if (block_id() * WARP >= total) return;
  const u32 n = load(widest.begins + total);
  const Runs runs = {own.begins, own.total, in.first, in.flags, in.series, own.continues, in.skips};
  Walk w = {0, 0, r, 0, 0, load(own.total), none()};
  constexpr u32 DONE = ~0u;
  u32 at = DONE;
  bool fresh = true;
  if (r < total) {
    for (u32 l = number - 1; l > warp; l--) w.run = load(in.level[l].inner + w.run);
    w.end = load(widest.begins + r + 1) & ~SERIES_FIRST;
    at = (load(widest.begins + r) & ~SERIES_FIRST) / LEVEL_VALUES * LEVEL_VALUES;
    const Run run = run_at(runs, w.run);
    w.p = run.begin, w.stop = run.end;
    w.after = load(own.begins + MIN(w.run + 2, w.runs)) & ~SERIES_FIRST;
    if (run.continued >= 0) w.m = continued(own.open + (u64)run.continued * OPEN_VALUES);
    fresh = w.m.count == 0;
  }
  const u32 from = w.p;
  f64 v[LEVEL_LOADS];
  auto fetch = [&](u32 at) __attribute__((always_inline)) {
#pragma unroll
    for (u32 k = 0; k < LEVEL_LOADS; k++) {
      if (k * number >= LEVEL_VALUES) break;
      u32 pair = k * number + warp, row = pair * 2 + lane / LEVEL_VALUES;
      u32 p = shuffle(at, row % WARP);
      v[k] = pair < LEVEL_VALUES && p != DONE && p + lane % LEVEL_VALUES < n ? load(values + p + lane % LEVEL_VALUES) : 0;
    }
  };
  fetch(at);
  for (u32 half = 0; ballot(at != DONE); half ^= 1) {
    f64 *tile = turned[half];
#pragma unroll
    for (u32 k = 0; k < LEVEL_LOADS; k++) {
      if (k * number >= LEVEL_VALUES) break;
      u32 pair = k * number + warp;
      if (pair < LEVEL_VALUES) tile[(pair * 2 + lane / LEVEL_VALUES) * LEVEL_PITCH + lane % LEVEL_VALUES] = v[k];
    }
    sync_block(); // the other half is not written before all have left it: they are here
    const u32 next = at != DONE && w.end - at > LEVEL_VALUES ? at + LEVEL_VALUES : DONE;
    fetch(next);
    const f64 *mine = tile + lane * LEVEL_PITCH;
    // The first run may be empty: of differences, the first of a series.
    if (at != DONE && fresh && w.p == from && from < w.stop && from - at < LEVEL_VALUES) w.m.first = mine[from - at];
    if (!ballot(at != DONE && (w.p != at || w.stop - at < LEVEL_VALUES))) {
      if (at != DONE) {
        accumulate_row<WithM2, LEVEL_VALUES>(w.m, mine);
        w.m.last = mine[LEVEL_VALUES - 1];
        w.p = at + LEVEL_VALUES;
      }
    } else if (at != DONE) {
      const u32 end = MIN(w.end, at + LEVEL_VALUES);
      for (; w.p < end; w.p++) {
        f64 x = mine[w.p - at];
        if (w.p == w.stop) pass(w, own, x);
        accumulate<WithM2>(w.m, x);
        w.m.last = x;
      }
    }
    at = next;
  }
  if (r < total) write(own.out, w.run, w.m), write_sums(own.out, runs, w.run, w.m);
}

KERNEL_BLOCKS(LEVELS *WARP, 3) moments_levels_plain(const f64 *values, Levels in) { moments_levels<false>(values, in); }
KERNEL_BLOCKS(LEVELS *WARP, 3) moments_levels_m2(const f64 *values, Levels in) { moments_levels<true>(values, in); }
EXPORT(moments_levels_plain)
EXPORT(moments_levels_m2)

// Extremes is where the lowest and highest of a granularity's runs go, and those of the finer one; null where not asked for.
struct Extremes {
  f64 *lowest, *highest;
  const f64 *inner_lowest, *inner_highest;
};

// extremes: a run's lowest and highest are those of the finer granularity's runs within it, and of what it continues. The first of
// these runs may be empty (of differences, the first of a series): it does not count.
// Launch: 128 threads, a block for each 16 runs: eight lanes go over a run's inner ones.
constexpr u32 EXTREME_THREADS = 128, EXTREME_LANES = 8;
KERNEL(EXTREME_THREADS) extremes(Runs runs, const u32 *inner, const u32 *inner_begins, const f64 *open, Extremes out) {
  const u32 total = load(runs.total), r = (block_id() * EXTREME_THREADS + thread_id()) / EXTREME_LANES, mine = lane_id() % EXTREME_LANES;
  Moments m = none();
  u32 nan = 0;
  if (r < total) {
    const u32 from = load(inner + r), to = load(inner + r + 1);
    const Run run = run_at(runs, r);
    const bool empty = run.skipped && (load(inner_begins + from + 1) & ~SERIES_FIRST) == run.begin;
    if (run.continued >= 0 && mine == 0) m = continued(open + (u64)run.continued * OPEN_VALUES), nan = m.nan;
    for (u32 i = from + empty + mine; i < to; i += EXTREME_LANES) {
      if (out.lowest) m.lowest = minimum(m.lowest, load(out.inner_lowest + i));
      if (out.highest) {
        f64 h = load(out.inner_highest + i);
        m.highest = maximum(m.highest, h);
        nan |= h != h;
      }
    }
  }
#pragma unroll
  for (u32 by = EXTREME_LANES / 2; by; by /= 2) {
    m.lowest = minimum(m.lowest, shuffle_down(m.lowest, by));
    m.highest = maximum(m.highest, shuffle_down(m.highest, by));
    nan |= shuffle_down(nan, by);
  }
  if (r >= total || mine) return;
  if (out.lowest) out.lowest[r] = m.lowest;
  if (out.highest) out.highest[r] = nan ? not_a_number() : m.highest;
}
EXPORT(extremes)
