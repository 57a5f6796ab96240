// ladder: how the aggregation of equal groups looks before it is ours; for `gnocco-bench gpu`.
//
//   out[g] = x[g*k] + … + x[g*k + k-1]
//
// The experiments with which this began (v1 atomics, v2 blocks, v3 shared memory; v4 is v3 on several streams), correct for
// any n and k: the last group may be shorter. In: x (f64, n of them). Out: a sum per group, 0 before the launch for v1 and
// v2. 8 bytes a value and a group. Order: v1 and v2 by chance, v3 and uncoalesced in order of time.
#include "../../../gpu/kernels/device.h"

// v1: a thread per group, an atomic addition per value.
KERNEL(256) ladder_v1(const f64 *x, i64 n, i64 k, f64 *out) {
  i64 g = (i64)block_id() * block_size() + thread_id();
  for (i64 i = g * k, end = MIN(n, i + k); i < end; i++) atomic_add(out + g, x[i]);
}

// v2: the same with a fixed number of blocks, each going over many groups.
KERNEL(256) ladder_v2(const f64 *x, i64 n, i64 k, f64 *out) {
  for (i64 g = (i64)block_id() * block_size() + thread_id(); g * k < n; g += (i64)block_size() * grid_size())
    for (i64 i = g * k, end = MIN(n, i + k); i < end; i++) atomic_add(out + g, x[i]);
}

// v3: a block per 256 groups copies their values to shared memory, 2,048 at a time, and a thread adds up each group.
KERNEL(256) ladder_v3(const f64 *x, i64 n, i64 k, f64 *out) {
  SHARED f64 staged[2048];
  i64 g = (i64)block_id() * 256 + thread_id(), from = (i64)block_id() * 256 * k, to = MIN(n, from + 256 * k);
  f64 sum = 0;
  for (i64 at = from; at < to; at += 2048) {
    for (i64 i = thread_id(); i < 2048 && at + i < to; i += 256) staged[i] = load(x + at + i);
    sync_block();
    for (i64 i = MAX(g * k, at), end = MIN(MIN(g * k + k, at + 2048), to); i < end; i++) sum += staged[i - at];
    sync_block();
  }
  if (g * k < n) out[g] = sum;
}

// A thread per group, reading its values where they lie: neighbours read k values apart.
KERNEL(256) ladder_uncoalesced(const f64 *x, i64 n, i64 k, f64 *out) {
  i64 g = (i64)block_id() * block_size() + thread_id();
  if (g * k >= n) return;
  f64 sum = 0;
  for (i64 i = g * k, end = MIN(n, i + k); i < end; i++) sum += load(x + i);
  out[g] = sum;
}
EXPORT(ladder_v1)
EXPORT(ladder_v2)
EXPORT(ladder_v3)
EXPORT(ladder_uncoalesced)
