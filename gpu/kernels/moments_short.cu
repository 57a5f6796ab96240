// moments_short: count, sum, min, max, m2, first, last of each run, for runs of up to a few dozen values.
//
// In: values (f64), runs (runs.h), rows of open groups (MOMENTS f64 per series). Out: the columns asked for, a row per run.
// Bytes: 8 a measure, 4 and 8 per column a run. Launch: 128 threads, a block for each 128 runs.
//
// A block's runs lie one after the other: it copies 2,048 values at a time to shared memory, in whole lines, and there each
// thread walks its own run from the first value to the last. So sums and m2 are accumulated in order of time, one value
// after the other, as on the CPU: the same bits. Places in shared memory have one of padding per 16: runs of 8 or 16
// values would otherwise meet in the same bank.
#include "moments.h"

constexpr u32 SHORT_THREADS = 128, SHORT_VALUES = 2048, SHORT_BLOCKS = 10;
DEVICE u32 padded(u32 i) { return i + i / 16; }

// stage copies a thread's values, eight in flight; of the last ones, those at a multiple of 128 below left.
constexpr u32 SHORT_FLIGHT = 8;
template <bool Last> DEVICE void stage(f64 *to, const f64 *from, u32 left) {
#pragma unroll
  for (u32 j = 0; j < SHORT_VALUES / SHORT_THREADS; j += SHORT_FLIGHT) {
    f64 v[SHORT_FLIGHT];
    if (Last && j * SHORT_THREADS >= left) return;
#pragma unroll
    for (u32 k = 0; k < SHORT_FLIGHT; k++) v[k] = !Last || (j + k) * SHORT_THREADS < left ? load(from + (j + k) * SHORT_THREADS) : 0;
#pragma unroll
    for (u32 k = 0; k < SHORT_FLIGHT; k++) to[padded((j + k) * SHORT_THREADS)] = v[k];
  }
}

template <bool WithM2> DEVICE void moments_short(const f64 *values, const Runs &runs, const f64 *open, const Columns &out) {
  SHARED f64 staged[SHORT_VALUES + SHORT_VALUES / 16];
  const u32 total = load(runs.total), block = block_id() * SHORT_THREADS, t = thread_id(), r = block + t;
  if (block >= total) return;
  const u32 from = load(runs.begins + block) & ~SERIES_FIRST;
  const u32 to = load(runs.begins + MIN(total, block + SHORT_THREADS)) & ~SERIES_FIRST;
  Run run = {to, to, -1, false};
  if (r < total) run = run_at(runs, r);
  Moments m = run.continued >= 0 ? continued(open + (u64)run.continued * MOMENTS) : none();
  const bool fresh = m.count == 0;
  // (j*128 + t) padded is j*136 + t padded: one address for all.
  const u32 place = padded(t);
  for (u32 at = from; at < to; at += SHORT_VALUES) {
    const f64 *source = values + at + t;
    if (to - at >= SHORT_VALUES) {
      stage<false>(staged + place, source, 0);
    } else {
      stage<true>(staged + place, source, to - at - MIN(t, to - at));
    }
    sync_block();
    u32 low = MAX(run.begin, at) - at, high = MIN(run.end, at + SHORT_VALUES);
    high = high > at ? high - at : 0;
    if (low < high) {
      if (fresh && run.begin >= at) m.first = staged[padded(low)];
      for (u32 i = low; i < high; i++) accumulate<WithM2>(m, staged[padded(i)]), extend(m, staged[padded(i)]);
      m.last = staged[padded(high - 1)];
    }
    sync_block();
  }
  if (r < total) write(out, r, m);
}

KERNEL_BLOCKS(SHORT_THREADS, SHORT_BLOCKS) moments_short_plain(const f64 *values, Runs runs, const f64 *open, Columns out) {
  moments_short<false>(values, runs, open, out);
}
KERNEL_BLOCKS(SHORT_THREADS, SHORT_BLOCKS) moments_short_m2(const f64 *values, Runs runs, const f64 *open, Columns out) {
  moments_short<true>(values, runs, open, out);
}
EXPORT(moments_short_plain)
EXPORT(moments_short_m2)
