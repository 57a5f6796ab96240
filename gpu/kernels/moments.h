// The moments of a group while its values are added in order of time: the twin of carbonara's moments.go, bit for bit.
#pragma once
#include "group_runs.h"

// The order in which open rows and columns hold them: carbonara's columns; in an open row there follows what additions to
// the sum have rounded away.
enum { COUNT, SUM, LOWEST, HIGHEST, M2, FIRST, LAST, MOMENTS, LOW = MOMENTS, OPEN_VALUES };

// Columns says what to compute: column[m] holds a value per run, or is null where m is not asked for. sums holds two values
// per series, the sum of its last run and what that has rounded away; null if the run is not to be continued.
struct Columns {
  f64 *column[MOMENTS];
  f64 *sums;
};

struct Moments {
  f64 count, sum, low, lowest, highest, m2, first, last;
  bool nan; // among the values: highest answers NaN then
};

// none is the state before the first value: minimum and maximum leave a NaN for any value.
DEVICE Moments none() { return {0, 0, 0, not_a_number(), not_a_number(), 0, not_a_number(), not_a_number(), false}; }

// continued reads the row of an open group.
DEVICE Moments continued(const f64 *row) {
  if (row[COUNT] == 0) return none();
  return {row[COUNT], row[SUM],   row[LOW],  row[LOWEST], row[HIGHEST],
          row[M2],    row[FIRST], row[LAST], row[HIGHEST] != row[HIGHEST]};
}

// quotient_near returns a / b as division rounds it, for a square a and b = n*(n-1): whole, or 2^-900 for n = 1, where a is 0 or
// NaN. A step from an estimate of 1/b doubles its bits, of which there are 18 or more at first: one step is for n of up to 2^8, two up to
// 2^24. a*(1/b) comes that close to a/b, and what is left of a then corrects the quotient, which doubles its bits once more. A quotient
// by b, of 2*log2(n) bits, lies 2^-54 of that many bits less from the middle of two neighbours, which is farther: so the rounding
// is division's. It wants room: not where `far` says so.
template <u32 Steps> DEVICE f64 quotient_near(f64 a, f64 b) {
  f64 y = reciprocal_estimate(b);
#pragma unroll
  for (u32 i = 0; i < Steps; i++) y = __builtin_fma(y, __builtin_fma(-b, y, 1), y);
  f64 q = a * y;
  return __builtin_fma(__builtin_fma(-b, q, a), y, q);
}

// far tells of a square whether it is near the ends of the range, or NaN; not of zero.
DEVICE bool far(f64 a) {
  const u32 high = (u32)((u64)bits_of(a) >> 32), low = (u32)(u64)bits_of(a);
  return high - 0x07000000 > 0x70000000 && (high | low) != 0;
}
// Up to so many values a group, one step and two are enough.
constexpr f64 ONE_STEP = 1 << 8, TWO_STEPS = 1 << 24;

// times_less returns count*v - sum: the first 26 of v's 53 bits, and the 27 last, times count are exact.
DEVICE f64 times_less(const Moments &m, f64 v) {
  const f64 first = value_of(bits_of(v) & ~((1ll << 27) - 1));
  return (m.count * first - m.sum) + (m.count * (v - first) - m.low);
}

// accumulate takes in one value, as far as order matters: count, sum and m2. low adds up what each addition to sum rounds away, by
// Knuth's six operations. m2 follows Youngs and Cramer: += (count*v - sum)² / (count*(count-1)), and v - v for the first value: its
// square is that, and 2^-900 stands for the zero it would be divided by. It returns whether this was too far for the near quotient,
// which takes so many steps; 0: division.
template <bool WithM2, u32 Steps = 0> DEVICE bool accumulate(Moments &m, f64 v) {
  f64 before = m.count;
  m.count = before + 1;
  const f64 sum = m.sum + v, part = sum - m.sum;
  m.low = m.low + ((m.sum - (sum - part)) + (v - part));
  m.sum = sum;
  if (!WithM2) return false;
  const f64 d = times_less(m, v), a = d * d, b = __builtin_fma(m.count, before, 0x1p-900);
  m.m2 = m.m2 + (Steps ? quotient_near<Steps>(a, b) : divided(a, b));
  return Steps && far(a);
}

// accumulate_row takes in N values without a branch among them, so that their divisions overlap; where one is far, once more.
template <bool WithM2, u32 N> DEVICE void accumulate_row(Moments &m, const f64 *row) {
  const f64 count = m.count, sum = m.sum, low = m.low, m2 = m.m2;
  bool rare = WithM2 && count + N > TWO_STEPS;
#pragma unroll
  for (u32 i = 0; i < N; i++) rare |= accumulate<WithM2, 2>(m, row[i]);
  if (!rare) return;
  m.count = count, m.sum = sum, m.low = low, m.m2 = m2;
#pragma unroll 1
  for (u32 i = 0; i < N; i++) accumulate<WithM2>(m, row[i]);
}

// extend takes in one value's part in lowest and highest.
DEVICE void extend(Moments &m, f64 v) {
  m.lowest = minimum(m.lowest, v);
  m.highest = maximum(m.highest, v);
  m.nan |= v != v;
}

// total_of returns the f64 next to the sum; one that is not finite stays that.
DEVICE f64 total_of(const Moments &m) {
  const f64 sum = m.sum + m.low;
  return sum == sum ? sum : m.sum;
}

// write_sums stores what continues run r, if it is its series' last.
DEVICE void write_sums(const Columns &out, const Runs &runs, u32 r, const Moments &m) {
  if (!out.sums || (r + 1 < load(runs.total) && !(load(runs.begins + r + 1) & SERIES_FIRST))) return;
  const u32 s = series_of(runs.first, runs.series, load(runs.begins + r) & ~SERIES_FIRST);
  out.sums[2 * s] = m.sum;
  out.sums[2 * s + 1] = m.low;
}

// write stores the columns asked for as row r.
DEVICE void write(const Columns &out, u32 r, const Moments &m) {
  bool none = m.count == 0;
  if (out.column[COUNT]) out.column[COUNT][r] = m.count;
  if (out.column[SUM]) out.column[SUM][r] = none ? not_a_number() : total_of(m);
  if (out.column[LOWEST]) out.column[LOWEST][r] = m.lowest;
  if (out.column[HIGHEST]) out.column[HIGHEST][r] = m.nan ? not_a_number() : m.highest;
  if (out.column[M2]) out.column[M2][r] = none ? not_a_number() : m.m2;
  if (out.column[FIRST]) out.column[FIRST][r] = m.first;
  if (out.column[LAST]) out.column[LAST][r] = m.last;
}
