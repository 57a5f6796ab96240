// percentiles_long: any percentiles of the runs of more than 128 values, which percentiles_short left over.
//
// In: values (f64), runs (group_runs.h), fractions, the list of runs. Out: per fraction a column (f64) with a row per run.
// Bytes: 8 a measure for runs of up to 4,096 values; longer ones are read nine times a fraction. Launch: 128 threads, any
// number of blocks: each takes four runs of the list at a time.
//
// Up to 1,024 values are sorted by a warp in registers, up to 4,096 by the block in shared memory, by bitonic networks of the
// next power of two. Of longer runs the value of each wanted rank is found digit by digit: count the values by eight bits of
// their key, among those that share the digits found so far.
#include "percentiles_of_lanes.h"

constexpr u32 SORT_THREADS = 128, SORT_VALUES = 4096, SORT_WARPS = SORT_THREADS / WARP, SORT_WARP_VALUES = 1024;

// sort orders n (a power of two) values in shared memory, ascending. For the whole block.
DEVICE void sort(f64 *values, u32 n) {
  for (u32 size = 2; size <= n; size *= 2)
    for (u32 by = size / 2; by; by /= 2) {
      sync_block();
      for (u32 i = thread_id(); i < n / 2; i += SORT_THREADS) {
        u32 low = 2 * i - (i & (by - 1)), high = low + by; // the pairs whose places differ in bit `by`
        f64 a = values[low], b = values[high];
        if ((a > b) == ((low & size) == 0)) values[low] = b, values[high] = a;
      }
    }
  sync_block();
}

// percentiles_of_block sorts a run and writes its percentiles. *nans and *negatives are shared, as sorted is.
DEVICE void percentiles_of_block(const f64 *values, const Run &run, const Percentiles &out, u32 r, f64 *sorted, u32 *nans, u32 *negatives) {
  const u32 t = thread_id(), n = run.end - run.begin;
  u32 size = 2;
  while (size < n) size *= 2;
  if (t == 0) *nans = 0, *negatives = 0;
  sync_block();
  u32 mine = 0;
  for (u32 p = t; p < size; p += SORT_THREADS) {
    f64 v = p < n ? load(values + run.begin + p) : INFINITE;
    if (without_nan(v)) atomic_add(nans, 1);
    mine += negative(v);
    sorted[p] = v;
  }
  if (mine) atomic_add(negatives, mine);
  sort(sorted, size);
  for (u32 k = t; k < out.number; k += SORT_THREADS)
    *percentile_at(out, k, r) = percentile(n, *nans, load(out.fractions + k), [&](u32 i) { return sorted[i]; }, [&] { return *negatives; });
  sync_block();
}

// Selected is the key at a rank, and that at the next one.
struct Selected {
  i64 low, high;
};

// each_key calls f with the keys of n values, unsigned, as many as fall to this thread; eight are on their way together.
constexpr u64 SIGN = 1ull << 63;
constexpr u32 SELECT_FLIGHT = 8;
template <class F> DEVICE void each_key(const f64 *values, u32 n, const F &f) {
  for (u32 at = thread_id(); at < n; at += SORT_THREADS * SELECT_FLIGHT) {
    f64 v[SELECT_FLIGHT];
#pragma unroll
    for (u32 j = 0; j < SELECT_FLIGHT; j++) v[j] = at + j * SORT_THREADS < n ? load(values + at + j * SORT_THREADS) : 0;
#pragma unroll
    for (u32 j = 0; j < SELECT_FLIGHT; j++)
      if (at + j * SORT_THREADS < n) f((u64)key_of(v[j]) ^ SIGN);
  }
}

// select finds them among n values. counts is shared, of 256. For the whole block. Keys that follow each other often share a digit,
// the first above all: a thread counts these by itself.
DEVICE Selected select(const f64 *values, u32 n, u32 rank, u32 *counts, u64 *least) {
  u64 found = 0;
  u32 left = rank; // among those that share the digits found
  for (i32 shift = 56; shift >= 0; shift -= 8) {
    for (u32 i = thread_id(); i < 256; i += SORT_THREADS) counts[i] = 0;
    sync_block();
    u32 last = 0, alike = 0;
    each_key(values, n, [&](u64 key) __attribute__((always_inline)) {
      if (shift < 56 && key >> (shift + 8) != found >> (shift + 8)) return;
      const u32 digit = (u32)(key >> shift) & 255;
      if (digit != last && alike) atomic_add(counts + last, alike), alike = 0;
      last = digit;
      alike++;
    });
    if (alike) atomic_add(counts + last, alike);
    sync_block();
    u32 digit = 0;
    while (left >= counts[digit]) left -= counts[digit++];
    found |= (u64)digit << shift;
    sync_block();
  }
  // The next one is equal if more values than up to this rank are; else the least of the larger ones.
  if (thread_id() == 0) counts[0] = 0, *least = ~0ull;
  sync_block();
  u32 up_to = 0;
  u64 above = ~0ull;
  each_key(values, n, [&](u64 key) __attribute__((always_inline)) {
    if (key <= found) up_to++;
    else above = MIN(above, key);
  });
  if (up_to) atomic_add(counts, up_to);
  if (above != ~0ull) atomic_min(least, above);
  sync_block();
  Selected r = {(i64)(found ^ SIGN), (i64)((counts[0] > rank + 1 ? found : *least) ^ SIGN)};
  sync_block();
  return r;
}

// in_registers does what a warp can hold.
DEVICE bool in_registers(const f64 *values, const Run &run, const Percentiles &out, u32 r) {
  const u32 n = run.end - run.begin;
  if (n > SORT_WARP_VALUES) return false;
  if (n <= 8 * WARP) percentiles_of_lanes<8>(values, run, out, r);
  else if (n <= 16 * WARP) percentiles_of_lanes<16>(values, run, out, r);
  else percentiles_of_lanes<32>(values, run, out, r);
  return true;
}

// The list, of out.stride places, is filled from its back, with number[1] runs.
KERNEL(SORT_THREADS) percentiles_long(const f64 *values, Runs runs, Percentiles out, const u32 *list, const u32 *number) {
  SHARED f64 sorted[SORT_VALUES];
  SHARED u32 counts[256], nans, negatives, left_;
  SHARED u64 least;
  const u32 t = thread_id(), todo = load(number + 1);
  for (u32 four = block_id() * SORT_WARPS; four < todo; four += grid_size() * SORT_WARPS) {
    if (t == 0) left_ = 0;
    sync_block();
    const u32 i = four + warp_id();
    if (i < todo) {
      const u32 r = load(list + out.stride - 1 - i);
      if (!in_registers(values, run_at(runs, r), out, r) && lane_id() == 0) atomic_add(&left_, 1 << warp_id());
    }
    sync_block();
    for (u32 left = left_; left; left &= left - 1) {
      const u32 r = load(list + out.stride - 1 - (four + (u32)__builtin_ctz(left)));
      const Run run = run_at(runs, r);
      const u32 n = run.end - run.begin;
      if (n <= SORT_VALUES) {
        percentiles_of_block(values, run, out, r, sorted, &nans, &negatives);
        continue;
      }
      for (u32 k = 0; k < out.number; k++) {
        Rank rank = rank_of(n, load(out.fractions + k));
        Selected s = select(values + run.begin, n, rank.low, counts, &least);
        if (t == 0) {
          f64 low = value_of_key(s.low);
          *percentile_at(out, k, r) = whole(rank) ? low : between(rank, low, value_of_key(s.high));
        }
      }
    }
    sync_block();
  }
}
EXPORT(percentiles_long)
