// What the kernels are written in: CUDA C++ as clang compiles it without any header of the vendor's, and the same on the
// host (host.h), where a block's threads are fibers. Everything a kernel asks of the machine goes through a name of this
// file.
#pragma once

using i32 = int;
using u32 = unsigned;
using i64 = long long;
using u64 = unsigned long long;
using u8 = unsigned char;
using f64 = double;

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

#ifdef __CUDA__

#define DEVICE static inline __attribute__((device, always_inline))
// A function that is called, not copied: what one thread does, with much code and few turns.
#define CALLED static __attribute__((device, noinline))
#define KERNEL(threads) extern "C" __attribute__((global, launch_bounds(threads))) void
// So many blocks at a time on a multiprocessor, at least: a limit to registers.
#define KERNEL_BLOCKS(threads, blocks) extern "C" __attribute__((global, launch_bounds(threads, blocks))) void
#define SHARED __attribute__((shared))
#define EXPORT(name) // host.h: makes a kernel callable by its name

DEVICE u32 thread_id() { return (u32)__nvvm_read_ptx_sreg_tid_x(); }
DEVICE u32 block_id() { return (u32)__nvvm_read_ptx_sreg_ctaid_x(); }
DEVICE u32 block_size() { return (u32)__nvvm_read_ptx_sreg_ntid_x(); }
DEVICE u32 grid_size() { return (u32)__nvvm_read_ptx_sreg_nctaid_x(); }
DEVICE void sync_block() { __syncthreads(); }
DEVICE void sync_warp() { __nvvm_bar_warp_sync(0xffffffffu); }

// The warp functions want all 32 lanes.
DEVICE u32 ballot(bool p) { return __nvvm_vote_ballot_sync(0xffffffffu, p); }
DEVICE u32 shuffle(u32 v, u32 lane) { return (u32)__nvvm_shfl_sync_idx_i32(0xffffffffu, (i32)v, (i32)lane, 31); }
DEVICE u32 shuffle_up(u32 v, u32 by) { return (u32)__nvvm_shfl_sync_up_i32(0xffffffffu, (i32)v, (i32)by, 0); }
DEVICE u32 shuffle_down(u32 v, u32 by) { return (u32)__nvvm_shfl_sync_down_i32(0xffffffffu, (i32)v, (i32)by, 31); }

DEVICE u32 atomic_add(u32 *at, u32 v) { return __nvvm_atom_add_gen_i((i32 *)at, (i32)v); }
DEVICE f64 atomic_add(f64 *at, f64 v) { return __nvvm_atom_add_gen_d(at, v); }
DEVICE u64 atomic_min(u64 *at, u64 v) { return (u64)__nvvm_atom_min_gen_ull((u64 *)at, v); }
DEVICE u64 atomic_max(u64 *at, u64 v) { return (u64)__nvvm_atom_max_gen_ull((u64 *)at, v); }

// A word that another block of the same launch writes or waits for.
DEVICE void publish(u64 *at, u64 v) { *(volatile u64 *)at = v; }
DEVICE u64 observe(const u64 *at) { return *(const volatile u64 *)at; }

// Memory that nobody writes during the launch.
DEVICE f64 load(const f64 *at) { return __nvvm_ldg_d(at); }
DEVICE i64 load(const i64 *at) { return __nvvm_ldg_ll(at); }
DEVICE u32 load(const u32 *at) { return __nvvm_ldg_ui(at); }
// The same, 16 bytes at a multiple of 16.
DEVICE void load_pair(i64 &a, i64 &b, const i64 *at) {
  asm("ld.global.nc.v2.s64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(at));
}
DEVICE void load_four(u32 (&v)[4], const u32 *at) {
  asm("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "l"(at));
}

// The smaller and larger of two, ignoring NaN unless both are; -0 is below +0.
DEVICE f64 minimum(f64 a, f64 b) {
  f64 r;
  asm("min.f64 %0, %1, %2;" : "=d"(r) : "d"(a), "d"(b));
  return r;
}
DEVICE f64 maximum(f64 a, f64 b) {
  f64 r;
  asm("max.f64 %0, %1, %2;" : "=d"(r) : "d"(a), "d"(b));
  return r;
}
DEVICE i64 bits_of(f64 v) { return __builtin_bit_cast(i64, v); }
DEVICE f64 value_of(i64 bits) { return __builtin_bit_cast(f64, bits); }

// a / b, where it is seldom needed: volatile, lest the compiler divide always and choose afterwards.
DEVICE f64 divided(f64 a, f64 b) {
  f64 r;
  asm volatile("div.rn.f64 %0, %1, %2;" : "=d"(r) : "d"(a), "d"(b));
  return r;
}
// v, of which the compilers know no more: it is computed once, rather than again wherever it is subtracted.
DEVICE i64 opaque(i64 v) {
  u32 low = (u32)v, high = (u32)((u64)v >> 32);
  asm volatile("prmt.b32 %0, %0, %1, 0x3210;" : "+r"(high) : "r"(low));
  return (i64)((u64)high << 32 | low);
}
// 1/v to about 20 bits.
DEVICE f64 reciprocal_estimate(f64 v) {
  f64 r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(v));
  return r;
}

#else
#include "host.h"
#endif

constexpr u32 WARP = 32;

DEVICE u32 lane_id() { return thread_id() & (WARP - 1); }
DEVICE u32 warp_id() { return thread_id() / WARP; }
DEVICE u32 ones(u32 v) { return (u32)__builtin_popcount(v); }
DEVICE u32 lanes_below() { return (1u << lane_id()) - 1; }
DEVICE u64 multiply_high(u64 a, u64 b) { return (u64)(((unsigned __int128)a * b) >> 64); }
DEVICE u64 shuffle(u64 v, u32 lane) { return (u64)shuffle((u32)(v >> 32), lane) << 32 | shuffle((u32)v, lane); }
DEVICE f64 shuffle(f64 v, u32 lane) { return value_of((i64)shuffle((u64)bits_of(v), lane)); }
DEVICE u64 shuffle_up(u64 v, u32 by) { return (u64)shuffle_up((u32)(v >> 32), by) << 32 | shuffle_up((u32)v, by); }
DEVICE f64 shuffle_down(f64 v, u32 by) {
  u64 b = (u64)bits_of(v);
  return value_of((i64)((u64)shuffle_down((u32)(b >> 32), by) << 32 | shuffle_down((u32)b, by)));
}
DEVICE f64 not_a_number() { return value_of(0x7ff8000000000001); } // the NaN of Go's math.NaN
