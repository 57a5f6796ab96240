// sum: one sum of all values, and the ways it should not be done; for `gnocco-bench gpu`.
//
// In: x (f64, n of them). Out: *out, which is 0 before; sum_ours writes a part per block. 8 bytes a value. Launch: as said
// at each. The order of additions differs with the grid, so the last bits do.
#include "../../../gpu/kernels/device.h"

// sum_block adds up what the threads of a block bring; thread 0 has the sum.
DEVICE f64 sum_block(f64 v) {
  SHARED f64 parts[WARP];
  for (u32 by = WARP / 2; by; by /= 2) v += shuffle_down(v, by);
  if (lane_id() == 0) parts[warp_id()] = v;
  sync_block();
  f64 sum = 0;
  if (warp_id() == 0) {
    sum = lane_id() < block_size() / WARP ? parts[lane_id()] : 0;
    for (u32 by = WARP / 2; by; by /= 2) sum += shuffle_down(sum, by);
  }
  return sum;
}

// An atomic addition per value. A thread for each.
KERNEL(256) sum_atomic(const f64 *x, i64 n, f64 *out) {
  i64 i = (i64)block_id() * block_size() + thread_id();
  if (i < n) atomic_add(out, load(x + i));
}

// 64 values in a row per thread, then an atomic addition: neighbouring threads read 512 bytes apart.
KERNEL(256) sum_row(const f64 *x, i64 n, f64 *out) {
  i64 from = ((i64)block_id() * block_size() + thread_id()) * 64, to = MIN(n, from + 64);
  if (from >= n) return;
  f64 sum = 0;
  for (i64 i = from; i < to; i++) sum += load(x + i);
  atomic_add(out, sum);
}

// The same 64 per thread, neighbours side by side.
KERNEL(256) sum_coalesced(const f64 *x, i64 n, f64 *out) {
  i64 from = (i64)block_id() * block_size() * 64;
  f64 sum = 0;
  for (i64 i = from + thread_id(), end = MIN(n, from + (i64)block_size() * 64); i < end; i += block_size()) sum += load(x + i);
  sum = sum_block(sum);
  if (thread_id() == 0) atomic_add(out, sum);
}

// Ours: 16 bytes a load, four in flight a thread, a part per block: the same bits for the same grid. x has an even address
// of 16; 512 threads, any number of blocks.
KERNEL(512) sum_ours(const f64 *x, i64 n, f64 *out) {
  typedef f64 pair __attribute__((ext_vector_type(2)));
  const pair *p = (const pair *)x;
  i64 pairs = n / 2, step = (i64)block_size() * grid_size(), i = (i64)block_id() * block_size() + thread_id();
  pair a = {0, 0}, b = {0, 0}, c = {0, 0}, d = {0, 0};
  for (; i + 3 * step < pairs; i += 4 * step) {
    pair v0 = p[i], v1 = p[i + step], v2 = p[i + 2 * step], v3 = p[i + 3 * step];
    a += v0;
    b += v1;
    c += v2;
    d += v3;
  }
  for (; i < pairs; i += step) a += p[i];
  a += b + c + d;
  f64 sum = a.x + a.y;
  if ((n & 1) && block_id() == 0 && thread_id() == 0) sum += x[n - 1];
  sum = sum_block(sum);
  if (thread_id() == 0) out[block_id()] = sum;
}
EXPORT(sum_atomic)
EXPORT(sum_row)
EXPORT(sum_coalesced)
EXPORT(sum_ours)
