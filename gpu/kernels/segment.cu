// segment: timestamps, ascending within each series, to runs: the measures of one group each.
//
//   measure p begins a run  <=>  p is its series' first, or floor(t[p] / granularity) != floor(t[p-1] / granularity)
//
// In: one of four sources of (series, timestamp) per item:
//   segment_timestamps  i64 nanoseconds                                  8 bytes a measure
//   segment_offsets     u32 multiples of the series' unit from its base  4
//   segment_regular     nothing: base + place in the series * unit       0
//   segment_runs        the runs of a granularity that divides this one: 12 a run of that
//                   (items are those runs, and begins are taken from there)
// and a bit per measure that is a series' first, with the number of series before each 256 measures.
// Out, per run: where it begins (u32), the start of its group (i64 nanoseconds); per series, its first run (u32): 12 bytes
// a run. begins[runs] = measures, series_runs[series] = runs, *total = runs. segment_runs says, too, which run of the finer
// granularity each begins with (u32).
//
// Launch: 256 threads, a block for each 8,192 items, in four rounds, each of 8 items in a row for a thread. A block counts the
// runs that begin in its tile, and learns how many begin before it from the blocks before it, which publish their counts (single
// pass: the timestamps are read once). So it counts on blocks being started in their order, as devices do. published is zero
// before the launch. That wait takes some microseconds, longer than to read 2,048 items: hence the rounds. Runs of a finer
// granularity are few: 2,048 of them a block, in one round. Arrays of timestamps lie at multiples of 16 bytes.
//
// What costs is instructions, not bytes. So a thread divides its first timestamp alone in 64 bits; the others, counted from
// the start of that one's group and without the factors of two that the granularity has, fit 32 bits. Where they do not, or
// a series begins among the eight, it divides each. Few runs begin in eight items, so what is written of each is computed anew.
#include "group_runs.h"

constexpr u32 SEGMENT_THREADS = 256, SEGMENT_ITEMS = 8, SEGMENT_ROUND = SEGMENT_THREADS * SEGMENT_ITEMS;
constexpr u32 SEGMENT_CHUNK = SEGMENT_ITEMS * WARP, SEGMENT_WARPS = SEGMENT_THREADS / WARP;

// Granularity divides by multiplication: exact for 0 <= t < 2^63, and for what near_group_of takes below 2^31.
struct Granularity {
  i64 width;
  u64 magic;
  u32 shift; // 255: the width is 1
  u32 near_magic, near_shift;
  u32 twos; // factors of two of the width
};
DEVICE i64 group_of(const Granularity &g, i64 t) {
  return g.shift == 255 ? t : (i64)(multiply_high((u64)t, g.magic) >> g.shift);
}
DEVICE u32 near_group_of(const Granularity &g, u32 t) { return (u32)((u64)t * g.near_magic >> 32) >> g.near_shift; }

struct Chunk {
  const void *timestamps;  // [measures] i64 or u32 or none, or i64 of runs
  const u32 *series_bits;  // [measures/32], whole tiles; or, of runs, their begins
  const u32 *series_ranks; // [measures/256] series that begin before; of runs, their number
  const u32 *first;        // [series] first measure
  const i64 *base;         // [series] nanoseconds
  const i64 *unit;         // [series] nanoseconds
  u32 measures, series;
};

struct Segments {
  u32 *begins;
  i64 *starts;
  u32 *series_runs;
  u32 *total;
  u64 *published; // one per tile
  u32 *inner;     // of segment_runs
};

// The sources: what is to know of a series, the timestamp of item i of it, and those of eight in a row, in two steps: what is read
// (Read), and what that means.
struct Origin {
  i64 base, unit;
  u32 first;
};
struct FromTimestamps {
  static constexpr bool runs = false, relative = false, ahead = true; // ahead: read a round before
  struct Read {
    i64 t[SEGMENT_ITEMS];
  };
  DEVICE Origin origin(const Chunk &, u32) { return {0, 0, 0}; }
  DEVICE i64 time(const Chunk &in, const Origin &, u32 i) { return load((const i64 *)in.timestamps + i); }
  DEVICE void read(Read &r, const Chunk &in, u32 i) {
#pragma unroll
    for (u32 j = 0; j < SEGMENT_ITEMS; j += 2) load_pair(r.t[j], r.t[j + 1], (const i64 *)in.timestamps + i + j);
  }
  DEVICE void times(i64 (&t)[SEGMENT_ITEMS], const Read &r, const Origin &, u32) {
#pragma unroll
    for (u32 j = 0; j < SEGMENT_ITEMS; j++) t[j] = r.t[j];
  }
};
struct FromOffsets {
  static constexpr bool runs = false, relative = true, ahead = false;
  struct Read {
    u32 offset[SEGMENT_ITEMS];
  };
  DEVICE Origin origin(const Chunk &in, u32 s) { return {load(in.base + s), load(in.unit + s), 0}; }
  DEVICE i64 time(const Chunk &in, const Origin &o, u32 i) { return o.base + load((const u32 *)in.timestamps + i) * o.unit; }
  DEVICE void read(Read &r, const Chunk &in, u32 i) {
#pragma unroll
    for (u32 j = 0; j < SEGMENT_ITEMS; j += 4) {
      u32 v[4];
      load_four(v, (const u32 *)in.timestamps + i + j);
#pragma unroll
      for (u32 k = 0; k < 4; k++) r.offset[j + k] = v[k];
    }
  }
  DEVICE void times(i64 (&t)[SEGMENT_ITEMS], const Read &r, const Origin &o, u32) {
#pragma unroll
    for (u32 j = 0; j < SEGMENT_ITEMS; j++) t[j] = o.base + r.offset[j] * o.unit;
  }
};
struct FromRegular {
  static constexpr bool runs = false, relative = true, ahead = false;
  struct Read {};
  DEVICE Origin origin(const Chunk &in, u32 s) { return {load(in.base + s), load(in.unit + s), load(in.first + s)}; }
  DEVICE i64 time(const Chunk &, const Origin &o, u32 i) { return o.base + (i64)(i - o.first) * o.unit; }
  DEVICE void read(Read &, const Chunk &, u32) {}
  DEVICE void times(i64 (&t)[SEGMENT_ITEMS], const Read &, const Origin &o, u32 i) {
    t[0] = o.base + (i64)(i - o.first) * o.unit;
#pragma unroll
    for (u32 j = 1; j < SEGMENT_ITEMS; j++) t[j] = t[j - 1] + o.unit;
  }
};
struct FromRuns : FromTimestamps {
  static constexpr bool runs = true;
};

// left_of is how many of a thread's items there are at a place.
DEVICE u32 left_of(u32 n, u32 at) { return at < n ? MIN(n - at, SEGMENT_ITEMS) : 0; }

// firsts_of returns a bit for each of the thread's items that is a series' first.
template <class Source> DEVICE u32 firsts_of(const Chunk &in, u32 at, u32 left) {
  if (left == 0) return 0;
  if (!Source::runs) return ((const u8 *)in.series_bits)[at / SEGMENT_ITEMS];
  u32 firsts = 0;
#pragma unroll
  for (u32 j = 0; j < SEGMENT_ITEMS; j++)
    if (j < left) firsts |= load(in.series_bits + at + j) >> 31 << j;
  return firsts;
}

// sum_before returns the sum of what the lanes before bring.
DEVICE u32 sum_before(u32 v) {
  u32 sum = v;
#pragma unroll
  for (u32 by = 1; by < WARP; by *= 2) {
    u32 other = shuffle_up(sum, by);
    if (lane_id() >= by) sum += other;
  }
  return sum - v;
}

constexpr u64 COUNTED = 1ull << 62, SUMMED = 2ull << 62; // what a published word tells: of the tile, or up to its end

// announce publishes the tile's count.
DEVICE void announce(u64 *published, u32 tile, u32 count) { publish(published + tile, (tile == 0 ? SUMMED : COUNTED) | count); }

// runs_before returns the count of all tiles before, and publishes it with the tile's own. For one whole warp. It looks at 128 tiles
// at a time: hundreds may be at work, and how far back the nearest is that knows all before it is how long everybody waits.
DEVICE u32 runs_before(u64 *published, u32 tile, u32 count) {
  if (tile == 0) return 0;
  constexpr u32 ROWS = 4;
  u32 before = 0;
  bool done = false;
  for (i64 last = (i64)tile - 1; !done; last -= ROWS * WARP) {
    u64 words[ROWS];
#pragma unroll
    for (u32 k = 0; k < ROWS; k++) {
      const i64 mine = last - k * WARP - lane_id();
      words[k] = mine >= 0 ? observe(published + mine) : SUMMED;
    }
#pragma unroll
    for (u32 k = 0; k < ROWS; k++) {
      if (done) break;
      u64 word = words[k];
      while (word >> 62 == 0) word = observe(published + (last - k * WARP - lane_id()));
      const u32 sums = ballot(word >> 62 == 2);
      const u32 until = sums ? (u32)__builtin_ctz(sums) : WARP - 1; // the nearest tile that knows all before it
      u32 add = lane_id() <= until ? (u32)word : 0;
      for (u32 by = WARP / 2; by; by /= 2) add += shuffle_down(add, by);
      before += shuffle(add, 0);
      done = sums != 0;
    }
  }
  if (lane_id() == 0) publish(published + tile, SUMMED | (before + count));
  return before;
}

// Eight is a thread's items of one round.
struct Eight {
  u32 at, left;
  u32 firsts; // a bit for each that is a series' first
  u32 series; // the number of series that begin before the first item, where somebody asks for it
};
template <class Source> DEVICE Eight eight_of(const Chunk &in, u32 n, u32 at, u32 firsts) {
  Eight e = {at, left_of(n, at), firsts, 0};
  if (!Source::runs) {
    const u32 begin = ballot(firsts != 0);
    if ((Source::relative || begin) && e.left) e.series = load(in.series_ranks + at / SEGMENT_CHUNK);
    if (begin) e.series += sum_before(ones(firsts));
  }
  return e;
}

// heads_of returns a bit for each item that begins a run. read is of these eight, if there are so many.
template <class Source> DEVICE u32 heads_of(const Chunk &in, const Granularity &g, const Eight &e, const typename Source::Read &read) {
  i64 first = 0, last = 0; // groups of the first and the last item
  u32 heads = 0;
  bool near = false;
  const bool one = e.left == SEGMENT_ITEMS && !(e.firsts & ~1u);
  i64 t[SEGMENT_ITEMS] = {};
  if (one) {
    Source::times(t, read, Source::origin(in, e.series + (e.firsts & 1) - 1), e.at);
    first = group_of(g, t[0]);
    const i64 start = opaque(first * g.width);
    near = g.shift != 255 && (u64)(t[SEGMENT_ITEMS - 1] - start) >> g.twos < 1ull << 31;
    u32 group = 0;
#pragma unroll
    for (u32 j = 1; j < SEGMENT_ITEMS; j++) {
      u32 next = near_group_of(g, (u32)((u64)(t[j] - start) >> g.twos));
      heads |= (next != group) << j;
      group = next;
    }
    last = first + group;
  }
  if (one && !near) {
    heads = 0;
    last = first;
#pragma unroll
    for (u32 j = 1; j < SEGMENT_ITEMS; j++) {
      i64 group = group_of(g, t[j]);
      heads |= (group != last) << j;
      last = group;
    }
  }
  if (!one) {
    for (u32 j = 0, s = e.series; j < e.left; j++) {
      s += e.firsts >> j & 1;
      i64 group = group_of(g, Source::time(in, Source::origin(in, s - 1), e.at + j));
      if (j == 0) first = group;
      else if (group != last || (e.firsts >> j & 1)) heads |= 1u << j;
      last = group;
    }
  }
  i64 previous = (i64)shuffle_up((u64)last, 1);
  if (e.left) {
    if (lane_id() == 0 && e.at && !(e.firsts & 1)) previous = group_of(g, Source::time(in, Source::origin(in, e.series - 1), e.at - 1));
    heads |= (e.firsts & 1) || first != previous;
  }
  return heads;
}

// begin_run writes what is known of run r, which begins with item j of eight, at time t.
template <class Source> DEVICE void begin_run(const Chunk &in, const Granularity &g, const Segments &out, const Eight &e, u32 j, i64 t, u32 r) {
  const u32 i = e.at + j, begin = Source::runs ? load(in.series_bits + i) & ~SERIES_FIRST : i;
  const bool is_first = e.firsts >> j & 1;
  out.begins[r] = begin | (is_first ? SERIES_FIRST : 0);
  out.starts[r] = group_of(g, t) * g.width;
  if (Source::runs) out.inner[r] = i;
  if (is_first) out.series_runs[Source::runs ? series_of(in.first, in.series, begin) : e.series + ones(e.firsts & ((1u << j) - 1))] = r;
}
template <class Source> DEVICE i64 time_of(const Chunk &in, const Eight &e, u32 j) {
  return Source::time(in, Source::origin(in, e.series + ones(e.firsts & ((2u << j) - 1)) - 1), e.at + j);
}

template <class Source> DEVICE void segment(const Chunk &in, const Granularity &g, const Segments &out) {
  constexpr u32 ROUNDS = Source::runs ? 1 : 4, TILE = ROUNDS * SEGMENT_ROUND, COUNTS = ROUNDS * SEGMENT_WARPS;
  static_assert(COUNTS <= WARP, "a lane for each count");
  SHARED u32 before_;
  SHARED u32 counts[WARP]; // of each warp in each round; then of those before
  const u32 tile = block_id(), warp = warp_id(), lane = lane_id();
  const u32 n = Source::runs ? load(in.series_ranks) : in.measures;
  if ((u64)tile * TILE >= n) return; // nobody waits for a tile behind the last
  const u32 at = tile * TILE + thread_id() * SEGMENT_ITEMS;
  u32 heads = 0, firsts = 0; // eight bits a round
  u64 mine = 0;              // 16 bits a round: runs that begin in the lanes before
  typename Source::Read next = {}; // what a round needs is on its way while the one before is at work
  if (Source::ahead && at + SEGMENT_ITEMS <= n) Source::read(next, in, at);
#pragma unroll
  for (u32 round = 0; round < ROUNDS; round++)
    firsts |= firsts_of<Source>(in, at + round * SEGMENT_ROUND, left_of(n, at + round * SEGMENT_ROUND)) << round * SEGMENT_ITEMS;
#pragma unroll 1
  for (u32 round = 0; round < ROUNDS; round++) {
    const u32 here = at + round * SEGMENT_ROUND, first = firsts >> round * SEGMENT_ITEMS & 255;
    typename Source::Read read = next;
    if (!Source::ahead && here + SEGMENT_ITEMS <= n) Source::read(read, in, here);
    if (Source::ahead && round + 1 < ROUNDS && here + SEGMENT_ROUND + SEGMENT_ITEMS <= n) Source::read(next, in, here + SEGMENT_ROUND);
    const u32 bits = heads_of<Source>(in, g, eight_of<Source>(in, n, here, first), read), count = ones(bits), before = sum_before(count);
    heads |= bits << round * SEGMENT_ITEMS;
    mine |= (u64)before << round * 16;
    if (lane == WARP - 1) counts[round * SEGMENT_WARPS + warp] = before + count;
  }
  sync_block();
  u32 sum = 0; // of the tile, as the first warp knows
  if (warp == 0) {
    const u32 count = lane < COUNTS ? counts[lane] : 0, before = sum_before(count);
    counts[lane] = before;
    sum = shuffle(before + count, WARP - 1);
    if (lane == 0) announce(out.published, tile, sum);
  }
  // Each round's first run, whose timestamps are on their way while the warps wait; there is seldom a second.
  Eight e[ROUNDS];
  i64 t[ROUNDS];
#pragma unroll
  for (u32 round = 0; round < ROUNDS; round++) {
    const u32 bits = heads >> round * SEGMENT_ITEMS & 255;
    e[round] = eight_of<Source>(in, n, at + round * SEGMENT_ROUND, firsts >> round * SEGMENT_ITEMS & 255);
    t[round] = bits ? time_of<Source>(in, e[round], (u32)__builtin_ctz(bits)) : 0;
  }
  if (warp == 0) {
    const u32 all = runs_before(out.published, tile, sum);
    if (lane == 0) {
      before_ = all;
      if ((u64)(tile + 1) * TILE >= n) {
        out.begins[all + sum] = in.measures;
        if (Source::runs) out.inner[all + sum] = n;
        out.series_runs[in.series] = all + sum;
        *out.total = all + sum;
      }
    }
  }
  sync_block();
#pragma unroll
  for (u32 round = 0; round < ROUNDS; round++) {
    u32 bits = heads >> round * SEGMENT_ITEMS & 255, r = before_ + counts[round * SEGMENT_WARPS + warp] + (u32)(mine >> round * 16 & 0xffff);
    if (!bits) continue;
    begin_run<Source>(in, g, out, e[round], (u32)__builtin_ctz(bits), t[round], r);
    for (bits &= bits - 1; bits; bits &= bits - 1) {
      const u32 j = (u32)__builtin_ctz(bits);
      begin_run<Source>(in, g, out, e[round], j, time_of<Source>(in, e[round], j), ++r);
    }
  }
}

KERNEL(SEGMENT_THREADS) segment_timestamps(Chunk in, Granularity g, Segments out) { segment<FromTimestamps>(in, g, out); }
KERNEL(SEGMENT_THREADS) segment_offsets(Chunk in, Granularity g, Segments out) { segment<FromOffsets>(in, g, out); }
KERNEL(SEGMENT_THREADS) segment_regular(Chunk in, Granularity g, Segments out) { segment<FromRegular>(in, g, out); }
KERNEL(SEGMENT_THREADS) segment_runs(Chunk in, Granularity g, Segments out) { segment<FromRuns>(in, g, out); }
EXPORT(segment_timestamps)
EXPORT(segment_offsets)
EXPORT(segment_regular)
EXPORT(segment_runs)
