// Runs: the measures of one group, one after the other in the columns of a chunk. segment.cu makes the list, the others read it.
#pragma once
#include "device.h"

// begins[r] is where run r begins, with this bit where it is its series' first; it ends where run r + 1 begins, and
// behind the last one stands the number of measures.
constexpr u32 SERIES_FIRST = 1u << 31;

// Runs is a list of runs, and what the first run of a series may need to know of it.
struct Runs {
  const u32 *begins;
  const u32 *total;   // number of runs
  const u32 *first;   // [series] its first measure
  const u32 *flags;   // [series] bits of the next two; null if no series has any
  u32 series;         // number of series
  u32 continues;      // the flag of a series whose first run continues a group
  u32 skips;          // the flag of a series whose first value is none (a difference without a previous measure)
};

// series_of returns the series that measure p belongs to.
DEVICE u32 series_of(const u32 *first, u32 series, u32 p) {
  u32 low = 0, high = series - 1;
  while (low < high) {
    u32 middle = (low + high + 1) / 2;
    if (load(first + middle) <= p) low = middle;
    else high = middle - 1;
  }
  return low;
}

// Run is the values of one group. continued is its series if it continues a group, else -1; skipped tells whether a first value
// that is none was left out.
struct Run {
  u32 begin, end;
  i32 continued;
  bool skipped;
};

DEVICE Run run_at(const Runs &runs, u32 r) {
  u32 begin = load(runs.begins + r);
  Run run = {begin & ~SERIES_FIRST, load(runs.begins + r + 1) & ~SERIES_FIRST, -1, false};
  if ((begin & SERIES_FIRST) && runs.flags) {
    u32 s = series_of(runs.first, runs.series, run.begin), flags = load(runs.flags + s);
    if (flags & runs.continues) run.continued = (i32)s;
    if (flags & runs.skips) run.begin++, run.skipped = true;
  }
  return run;
}
