// The product of 16 x 8 and 8 x 8 numbers by a warp, on the tensor cores where there are any for f64, and copies to shared memory
// that go on beside the computation. What the lanes hold (g = lane/4, q = lane%4):
//
//   a[0], a[1]: rows g, g+8 at k = q;  a[2], a[3]: the same at k = q+4
//   b[0], b[1]: k = q, q+4 of column g
//   c[0], c[1]: row g, columns 2q, 2q+1;  c[2], c[3]: row g+8
#pragma once
#include "device.h"

#ifdef __CUDA__
#define DEVICE_MEMBER inline __attribute__((device, always_inline))

#if __CUDA_ARCH__ >= 800
#define CORREL_TENSOR 1

#if __CUDA_ARCH__ >= 900
DEVICE void multiply(f64 *c, const f64 *a, const f64 *b) {
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}
#else
DEVICE void multiply(f64 *c, const f64 *a, const f64 *b) {
#pragma unroll
  for (u32 k = 0; k < 2; k++)
#pragma unroll
    for (u32 h = 0; h < 2; h++)
      asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{%2},{%3},{%0,%1};"
          : "+d"(c[2 * h]), "+d"(c[2 * h + 1])
          : "d"(a[2 * k + h]), "d"(b[k]));
}
#endif

DEVICE u32 shared_address(const f64 *p) { return (u32)(u64)(__attribute__((address_space(3))) const f64 *)p; }
// 16 bytes, by the caches of the second level only.
DEVICE void copy_async(f64 *to, const f64 *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}
DEVICE void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int Left> DEVICE void wait_copies() { asm volatile("cp.async.wait_group %0;" ::"n"(Left) : "memory"); }
#endif

extern __attribute__((shared, aligned(16))) f64 dynamic_shared[];

#else // the host
#define DEVICE_MEMBER inline
#define CORREL_TENSOR 1

static inline f64 mma_a[1024][4], mma_b[1024][2];
DEVICE void multiply(f64 *c, const f64 *a, const f64 *b) {
  u32 self = thread_id(), warp = self & ~31u, g = (self & 31) / 4, q = self % 4;
  for (u32 k = 0; k < 4; k++) mma_a[self][k] = a[k];
  for (u32 k = 0; k < 2; k++) mma_b[self][k] = b[k];
  host::leave(host::at_warp);
  for (u32 k = 0; k < 8; k++)
    for (u32 e = 0; e < 4; e++) {
      const f64 *x = mma_a[warp + g * 4 + k % 4], *y = mma_b[warp + (2 * q + e % 2) * 4 + k % 4];
      c[e] = __builtin_fma(x[k / 4 * 2 + e / 2], y[k / 4], c[e]);
    }
  host::leave(host::at_warp);
}
DEVICE void copy_async(f64 *to, const f64 *from) { to[0] = from[0], to[1] = from[1]; }
DEVICE void commit_copies() {}
template <int Left> DEVICE void wait_copies() {}
alignas(16) static f64 dynamic_shared[16384];
#endif
