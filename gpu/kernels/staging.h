// Values that a block copies to shared memory, in whole lines, before each thread reads its own run's there. Places have one of
// padding per 16: runs of 8 or 16 values would otherwise meet in the same bank.
#pragma once
#include "device.h"

constexpr u32 STAGE_THREADS = 128, STAGE_VALUES = 2048, STAGE_PLACES = STAGE_VALUES + STAGE_VALUES / 16;
DEVICE u32 padded(u32 i) { return i + i / 16; }

// stage_row copies a thread's values, eight in flight; of the last ones, those at a multiple of 128 below left.
constexpr u32 STAGE_FLIGHT = 8;
template <bool Last> DEVICE void stage_row(f64 *to, const f64 *from, u32 left) {
#pragma unroll
  for (u32 j = 0; j < STAGE_VALUES / STAGE_THREADS; j += STAGE_FLIGHT) {
    f64 v[STAGE_FLIGHT];
    if (Last && j * STAGE_THREADS >= left) return;
#pragma unroll
    for (u32 k = 0; k < STAGE_FLIGHT; k++) v[k] = !Last || (j + k) * STAGE_THREADS < left ? load(from + (j + k) * STAGE_THREADS) : 0;
#pragma unroll
    for (u32 k = 0; k < STAGE_FLIGHT; k++) to[padded((j + k) * STAGE_THREADS)] = v[k];
  }
}

// stage copies n values, STAGE_VALUES at most, and waits for all threads' parts.
DEVICE void stage(f64 *staged, const f64 *from, u32 n) {
  const u32 t = thread_id();
  f64 *to = staged + padded(t); // (j*128 + t) padded is j*136 + t padded: one address for all
  if (n >= STAGE_VALUES) stage_row<false>(to, from + t, 0);
  else stage_row<true>(to, from + t, n - MIN(t, n));
  sync_block();
}
