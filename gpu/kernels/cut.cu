// cut: timestamps, ascending within each series, to runs: the measures of one group each.
//
//   measure p begins a run  <=>  p is its series' first, or floor(t[p] / granularity) != floor(t[p-1] / granularity)
//
// In: one of four sources of (series, timestamp) per item:
//   cut_timestamps  i64 nanoseconds                                  8 bytes a measure
//   cut_offsets     u32 multiples of the series' unit from its base  4
//   cut_regular     nothing: base + place in the series * unit       0
//   cut_runs        the runs of a granularity that divides this one: 12 a run of that
//                   (items are those runs, and begins are taken from there)
// and a bit per measure that is a series' first, with the number of series before each 256 measures.
// Out, per run: where it begins (u32), the start of its group (i64 nanoseconds); per series, its first run (u32): 12 bytes
// a run. begins[runs] = measures, series_runs[series] = runs, *total = runs.
//
// Launch: 256 threads, a block for each 2,048 items. A block counts the runs that begin in its tile, and learns how many
// begin before it from the blocks before it, which publish their counts (single pass: the timestamps are read once). So it
// counts on blocks being started in their order, as devices do. published is zero before the launch.
#include "runs.h"

constexpr u32 CUT_THREADS = 256, CUT_ITEMS = 8, CUT_TILE = CUT_THREADS * CUT_ITEMS, CUT_CHUNK = CUT_ITEMS * WARP;

// Granularity divides by multiplication: exact for 0 <= t < 2^63.
struct Granularity {
  i64 width;
  u64 magic;
  u32 shift; // 255: the width is 1
};
DEVICE i64 group_of(const Granularity &g, i64 t) {
  return g.shift == 255 ? t : (i64)(multiply_high((u64)t, g.magic) >> g.shift);
}

struct Piece {
  const void *timestamps;  // [measures] i64 or u32 or none, or i64 of runs
  const u32 *series_bits;  // [measures/32] or, of runs, their begins
  const u32 *series_ranks; // [measures/256] series that begin before; of runs, their number
  const u32 *first;        // [series] first measure
  const i64 *base;         // [series] nanoseconds
  const i64 *unit;         // [series] nanoseconds
  u32 measures, series;
};

struct Cut {
  u32 *begins;
  i64 *starts;
  u32 *series_runs;
  u32 *total;
  u64 *published; // one per tile
};

// The sources: what is to know of a series, and the timestamp of item i of it.
struct Origin {
  i64 base, unit;
  u32 first;
};
struct FromTimestamps {
  static constexpr bool runs = false, relative = false;
  DEVICE Origin origin(const Piece &, u32) { return {0, 0, 0}; }
  DEVICE i64 time(const Piece &in, const Origin &, u32 i) { return load((const i64 *)in.timestamps + i); }
};
struct FromOffsets {
  static constexpr bool runs = false, relative = true;
  DEVICE Origin origin(const Piece &in, u32 s) { return {load(in.base + s), load(in.unit + s), 0}; }
  DEVICE i64 time(const Piece &in, const Origin &o, u32 i) { return o.base + load((const u32 *)in.timestamps + i) * o.unit; }
};
struct FromRegular {
  static constexpr bool runs = false, relative = true;
  DEVICE Origin origin(const Piece &in, u32 s) { return {load(in.base + s), load(in.unit + s), load(in.first + s)}; }
  DEVICE i64 time(const Piece &, const Origin &o, u32 i) { return o.base + (i64)(i - o.first) * o.unit; }
};
struct FromRuns {
  static constexpr bool runs = true, relative = false;
  DEVICE Origin origin(const Piece &, u32) { return {0, 0, 0}; }
  DEVICE i64 time(const Piece &in, const Origin &, u32 i) { return load((const i64 *)in.timestamps + i); }
};

constexpr u64 COUNTED = 1ull << 62, SUMMED = 2ull << 62; // what a published word tells: of the tile, or up to its end

// runs_before publishes the tile's count and returns that of all tiles before. For one whole warp.
DEVICE u32 runs_before(u64 *published, u32 tile, u32 count) {
  if (lane_id() == 0) publish(published + tile, (tile == 0 ? SUMMED : COUNTED) | count);
  if (tile == 0) return 0;
  u32 before = 0;
  for (i64 last = (i64)tile - 1;; last -= WARP) {
    i64 mine = last - lane_id();
    u64 word = SUMMED;
    if (mine >= 0)
      while (((word = observe(published + mine)) >> 62) == 0);
    u32 sums = ballot(word >> 62 == 2);
    u32 until = sums ? (u32)__builtin_ctz(sums) : WARP - 1; // the nearest tile that knows all before it
    u32 add = lane_id() <= until ? (u32)word : 0;
    for (u32 by = WARP / 2; by; by /= 2) add += shuffle_down(add, by);
    before += shuffle(add, 0);
    if (sums) break;
  }
  if (lane_id() == 0) publish(published + tile, SUMMED | (before + count));
  return before;
}

template <class Source> DEVICE void cut(const Piece &in, const Granularity &g, const Cut &out) {
  SHARED u32 before_;
  SHARED __attribute__((aligned(16))) u32 counts[CUT_THREADS / WARP];
  const u32 tile = block_id(), warp = warp_id(), lane = lane_id();
  const u32 n = Source::runs ? load(in.series_ranks) : in.measures;
  if ((u64)tile * CUT_TILE >= n) return; // nobody waits for a tile behind the last
  const u32 chunk = tile * CUT_TILE + warp * CUT_CHUNK;
  // Timestamps first, all in flight together; then the groups in order.
  u32 firsts[CUT_ITEMS]; // items that are a series' first
  u32 rank = 0;
  if (Source::runs) {
    for (u32 j = 0; j < CUT_ITEMS; j++) {
      u32 i = chunk + j * WARP + lane;
      firsts[j] = ballot(i < n && load(in.series_bits + i) >> 31);
    }
  } else {
    rank = chunk < n ? load(in.series_ranks + chunk / CUT_CHUNK) : 0;
    for (u32 j = 0; j < CUT_ITEMS; j++) firsts[j] = chunk + j * WARP < n ? load(in.series_bits + chunk / WARP + j) : 0;
  }
  i64 group[CUT_ITEMS];
  u32 series = rank, begin = 0; // series that begin before, and within the chunk but for its first item
#pragma unroll
  for (u32 j = 0; j < CUT_ITEMS; j++) begin |= j == 0 ? firsts[j] & ~1u : firsts[j];
  if (!Source::relative || begin == 0) { // the whole chunk is one series, or it does not matter
    const Origin origin = Source::origin(in, chunk < n ? rank + (firsts[0] & 1) - 1 : 0);
#pragma unroll
    for (u32 j = 0; j < CUT_ITEMS; j++) {
      u32 i = chunk + j * WARP + lane;
      group[j] = i < n ? Source::time(in, origin, i) : 0;
    }
  } else {
#pragma unroll
    for (u32 j = 0; j < CUT_ITEMS; j++) {
      u32 i = chunk + j * WARP + lane, s = series + ones(firsts[j] & (lanes_below() * 2 + 1)) - 1;
      group[j] = i < n ? Source::time(in, Source::origin(in, s), i) : 0;
      series += ones(firsts[j]);
    }
  }
  i64 last = -1; // of lane 31: the group of the item before
  if (lane == WARP - 1 && chunk > 0 && chunk < n && !(firsts[0] & 1))
    last = group_of(g, Source::time(in, Source::origin(in, rank - 1), chunk - 1));
  u32 heads[CUT_ITEMS], count = 0;
#pragma unroll
  for (u32 j = 0; j < CUT_ITEMS; j++) {
    u32 i = chunk + j * WARP + lane;
    group[j] = group_of(g, group[j]);
    // Each lane's neighbour, in a circle: nobody else needs lane 31's group of this round, so it passes on that of the last.
    i64 previous = (i64)shuffle((u64)(lane == WARP - 1 ? last : group[j]), (lane + WARP - 1) % WARP);
    heads[j] = ballot(i < n && ((firsts[j] >> lane & 1) || group[j] != previous));
    count += ones(heads[j]);
    last = group[j];
  }
  if (lane == 0) counts[warp] = count;
  sync_block();
  u32 here = 0, sum = 0;
  for (u32 w = 0; w < CUT_THREADS / WARP; w++) {
    if (w == warp) here = sum;
    sum += counts[w];
  }
  if (warp == 0) {
    u32 before = runs_before(out.published, tile, sum);
    if (lane == 0) before_ = before;
  }
  sync_block();
  u32 r = before_ + here;
  series = rank;
#pragma unroll
  for (u32 j = 0; j < CUT_ITEMS; j++) {
    u32 i = chunk + j * WARP + lane;
    if (heads[j] >> lane & 1) {
      u32 at = r + ones(heads[j] & lanes_below()), begin = Source::runs ? load(in.series_bits + i) & ~SERIES_FIRST : i;
      bool first = firsts[j] >> lane & 1;
      out.begins[at] = begin | (first ? SERIES_FIRST : 0);
      out.starts[at] = group[j] * g.width;
      if (first) {
        u32 s = Source::runs ? series_of(in.first, in.series, begin) : series + ones(firsts[j] & lanes_below());
        out.series_runs[s] = at;
      }
    }
    r += ones(heads[j]);
    series += ones(firsts[j]);
  }
  if ((u64)(tile + 1) * CUT_TILE >= n && thread_id() == 0) {
    u32 total = before_ + sum;
    out.begins[total] = in.measures;
    out.series_runs[in.series] = total;
    *out.total = total;
  }
}

KERNEL(CUT_THREADS) cut_timestamps(Piece in, Granularity g, Cut out) { cut<FromTimestamps>(in, g, out); }
KERNEL(CUT_THREADS) cut_offsets(Piece in, Granularity g, Cut out) { cut<FromOffsets>(in, g, out); }
KERNEL(CUT_THREADS) cut_regular(Piece in, Granularity g, Cut out) { cut<FromRegular>(in, g, out); }
KERNEL(CUT_THREADS) cut_runs(Piece in, Granularity g, Cut out) { cut<FromRuns>(in, g, out); }
EXPORT(cut_timestamps)
EXPORT(cut_offsets)
EXPORT(cut_regular)
EXPORT(cut_runs)
