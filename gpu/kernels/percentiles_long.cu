// percentiles_long: any percentiles of the runs that percentiles_short left over; of any length.
//
// In: values (f64), runs (runs.h), fractions, the list of runs. Out: per fraction a column (f64) with a row per run.
// Bytes: 8 a measure for runs of up to 4,096 values; longer ones are read nine times a fraction. Launch: 128 threads, any
// number of blocks: each takes four runs of the list at a time.
//
// Up to 1,024 values are sorted by a warp, up to 4,096 by the block, in shared memory, by a bitonic network of the next
// power of two. Of longer runs the value
// of each wanted rank is found digit by digit: count the values by eight bits of their key, among those that share the
// digits found so far.
#include "order.h"

constexpr u32 SORT_THREADS = 128, SORT_VALUES = 4096, SORT_WARPS = SORT_THREADS / WARP, SORT_WARP_VALUES = SORT_VALUES / SORT_WARPS;

// sort orders n (a power of two) keys in shared memory, ascending. For a whole warp or block.
template <bool Block> DEVICE void sort(i64 *keys, u32 n) {
  const u32 t = Block ? thread_id() : lane_id(), threads = Block ? SORT_THREADS : WARP;
  for (u32 size = 2; size <= n; size *= 2)
    for (u32 by = size / 2; by; by /= 2) {
      if (Block) sync_block();
      else sync_warp();
      for (u32 i = t; i < n / 2; i += threads) {
        u32 low = 2 * i - (i & (by - 1)), high = low + by; // the pairs whose places differ in bit `by`
        i64 a = keys[low], b = keys[high];
        if ((a > b) == ((low & size) == 0)) keys[low] = b, keys[high] = a;
      }
    }
  if (Block) sync_block();
  else sync_warp();
}

// percentiles_of sorts a run and writes its percentiles. For a whole warp or block.
template <bool Block> DEVICE void percentiles_of(const f64 *values, const Run &run, const Percentiles &out, u32 r, i64 *keys) {
  const u32 t = Block ? thread_id() : lane_id(), threads = Block ? SORT_THREADS : WARP, n = run.end - run.begin;
  u32 size = 2;
  while (size < n) size *= 2;
  for (u32 p = t; p < size; p += threads) keys[p] = p < n ? key_of(load(values + run.begin + p)) : LAST_KEY;
  sort<Block>(keys, size);
  for (u32 k = t; k < out.number; k += threads) *percentile_at(out, k, r) = percentile(keys, n, load(out.fractions + k));
}

// Selected is the key at a rank, and that at the next one.
struct Selected {
  i64 low, high;
};

// select finds them among n values. counts is shared, of 256. For the whole block.
DEVICE Selected select(const f64 *values, u32 n, u32 rank, u32 *counts, u64 *least) {
  constexpr u64 sign = 1ull << 63; // unsigned keys
  u64 found = 0;
  u32 left = rank; // among those that share the digits found
  for (i32 shift = 56; shift >= 0; shift -= 8) {
    for (u32 i = thread_id(); i < 256; i += SORT_THREADS) counts[i] = 0;
    sync_block();
    for (u32 i = thread_id(); i < n; i += SORT_THREADS) {
      u64 key = (u64)key_of(load(values + i)) ^ sign;
      if (shift == 56 || key >> (shift + 8) == found >> (shift + 8)) atomic_add(counts + (key >> shift & 255), 1);
    }
    sync_block();
    u32 digit = 0;
    while (left >= counts[digit]) left -= counts[digit++];
    found |= (u64)digit << shift;
    sync_block();
  }
  // The next one is equal if more values than up to this rank are; else the least of the larger ones.
  if (thread_id() == 0) counts[0] = 0, *least = ~0ull;
  sync_block();
  for (u32 i = thread_id(); i < n; i += SORT_THREADS) {
    u64 key = (u64)key_of(load(values + i)) ^ sign;
    if (key <= found) atomic_add(counts, 1);
    else atomic_min(least, key);
  }
  sync_block();
  Selected r = {(i64)(found ^ sign), (i64)((counts[0] > rank + 1 ? found : *least) ^ sign)};
  sync_block();
  return r;
}

KERNEL(SORT_THREADS) percentiles_long(const f64 *values, Runs runs, Percentiles out, const u32 *list, const u32 *number) {
  SHARED i64 keys[SORT_VALUES];
  SHARED u32 counts[256];
  SHARED u64 least;
  const u32 t = thread_id(), todo = load(number);
  for (u32 four = block_id() * SORT_WARPS; four < todo; four += grid_size() * SORT_WARPS) {
    if (u32 i = four + warp_id(); i < todo) {
      const u32 r = load(list + i);
      const Run run = run_at(runs, r);
      if (run.end - run.begin <= SORT_WARP_VALUES) percentiles_of<false>(values, run, out, r, keys + warp_id() * SORT_WARP_VALUES);
    }
    sync_block();
    for (u32 i = four; i < MIN(four + SORT_WARPS, todo); i++) {
      const u32 r = load(list + i);
      const Run run = run_at(runs, r);
      const u32 n = run.end - run.begin;
      if (n <= SORT_WARP_VALUES) continue;
      if (n <= SORT_VALUES) {
        percentiles_of<true>(values, run, out, r, keys);
        sync_block();
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
  }
}
EXPORT(percentiles_long)
