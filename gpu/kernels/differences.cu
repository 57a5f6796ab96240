// differences: what rate: aggregates are computed over.
//
//   d[p] = v[p] - v[p-1], or v[p] - previous[series] where p is its series' first
//
// In: values (f64), a bit per measure that is a series' first, the number of series before each 256 measures, and the value
// before each series (anything where there is none: group_runs.h skips that difference). Out: d (f64). 16 bytes a measure.
// Launch: 256 threads, a block for each 2,048 measures.
#include "group_runs.h"

KERNEL(256) differences(const f64 *values, const u32 *series_bits, const u32 *series_ranks, const f64 *previous, f64 *out, u32 n) {
  const u32 lane = lane_id(), chunk = block_id() * 2048 + warp_id() * 256;
  if (chunk >= n) return;
  u32 series = load(series_ranks + chunk / 256);
  for (u32 j = 0; j < 8; j++) {
    u32 p = chunk + j * WARP + lane;
    if (p - lane >= n) return;
    u32 firsts = load(series_bits + (p - lane) / WARP);
    if (p < n) {
      bool first = firsts >> lane & 1;
      f64 before = first ? load(previous + series + ones(firsts & lanes_below())) : load(values + p - 1);
      out[p] = load(values + p) - before;
    }
    series += ones(firsts);
  }
}
EXPORT(differences)
