// The kernels on the host, for tests: the threads of a block are fibers of one thread of the host, blocks run one after
// the other. A barrier or warp function that not all threads of the block or warp reach ends the process with a
// message. Needs x86-64 (the switch between fibers) and clang.
#pragma once
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <tuple>
#include <utility>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/common_interface_defs.h>
#define FIBER_SANITIZER 1
#endif
#endif

#define DEVICE static inline
#define CALLED static inline
#define KERNEL(threads) extern "C" void
#define KERNEL_BLOCKS(threads, blocks) extern "C" void
#define SHARED static

namespace host {

constexpr size_t stack_bytes = 64 << 10;
enum State { ready, at_block, at_warp, done };

struct Fiber {
  void *sp;
  char *stack;
  State state;
  void *fake_stack; // the address sanitizer's
};

// One launch at a time.
struct Machine {
  std::mutex mutex;
  void *sp; // of the scheduler
  void *fake_stack;
  const void *stack_bottom;
  size_t stack_size;
  Fiber fibers[1024];
  u32 threads, thread, block, blocks;
  u64 exchange[1024]; // what each lane brings to a warp function
  void (*entry)(void *);
  void *argument;
};
inline Machine machine;

// switch_to saves the registers that a call preserves, and the stack pointer in *from, and continues at to.
extern "C" void gnocco_switch_to(void **from, void *to);
asm(R"(
.text
.type gnocco_switch_to, @function
gnocco_switch_to:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, (%rdi)
  mov %rsi, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
.size gnocco_switch_to, .-gnocco_switch_to
)");

// leave gives the scheduler control until the fiber is ready again.
inline void leave(State state) {
  Machine &m = machine;
  Fiber &f = m.fibers[m.thread];
  f.state = state;
#ifdef FIBER_SANITIZER
  __sanitizer_start_switch_fiber(state == done ? nullptr : &f.fake_stack, m.stack_bottom, m.stack_size);
#endif
  gnocco_switch_to(&f.sp, m.sp);
#ifdef FIBER_SANITIZER
  __sanitizer_finish_switch_fiber(f.fake_stack, &m.stack_bottom, &m.stack_size);
#endif
}

inline void fiber_main() {
#ifdef FIBER_SANITIZER
  __sanitizer_finish_switch_fiber(nullptr, &machine.stack_bottom, &machine.stack_size);
#endif
  machine.entry(machine.argument);
  leave(done);
  abort();
}

inline void resume(u32 thread) {
  Machine &m = machine;
  Fiber &f = m.fibers[thread];
  m.thread = thread;
#ifdef FIBER_SANITIZER
  __sanitizer_start_switch_fiber(&m.fake_stack, f.stack, stack_bytes);
#endif
  gnocco_switch_to(&m.sp, f.sp);
#ifdef FIBER_SANITIZER
  __sanitizer_finish_switch_fiber(m.fake_stack, nullptr, nullptr);
#endif
}

// release makes those of [from, to) ready that wait at the given barrier, if nobody there is still on the way to it.
inline bool release(u32 from, u32 to, State barrier) {
  Machine &m = machine;
  bool any = false;
  for (u32 t = from; t < to; t++) {
    if (m.fibers[t].state != barrier && m.fibers[t].state != done) return false;
    any |= m.fibers[t].state == barrier;
  }
  for (u32 t = from; t < to; t++)
    if (m.fibers[t].state == barrier) m.fibers[t].state = ready;
  return any;
}

inline void run_block() {
  Machine &m = machine;
  for (u32 t = 0; t < m.threads; t++) {
    Fiber &f = m.fibers[t];
    if (!f.stack) f.stack = (char *)aligned_alloc(64, stack_bytes);
    void **top = (void **)(f.stack + stack_bytes) - 3; // as after a call: 8 bytes off a multiple of 16
    *top = nullptr;
    *--top = (void *)fiber_main;
    top -= 6;
    memset(top, 0, 6 * sizeof *top);
    f.sp = top;
    f.state = ready;
    f.fake_stack = nullptr;
  }
  for (;;) {
    bool progress = false, left = false;
    for (u32 warp = 0; warp < m.threads; warp += 32) {
      u32 end = warp + 32 < m.threads ? warp + 32 : m.threads;
      do {
        for (u32 t = warp; t < end; t++)
          if (m.fibers[t].state == ready) resume(t), progress = true;
      } while (release(warp, end, at_warp));
      for (u32 t = warp; t < end; t++) left |= m.fibers[t].state != done;
    }
    if (!left) return;
    if (!release(0, m.threads, at_block) && !progress) {
      fprintf(stderr, "block %u: not all threads reach the same barrier\n", m.block);
      abort();
    }
  }
}

inline u64 exchange(u64 v, u32 lane, bool own) {
  Machine &m = machine;
  u32 self = m.thread;
  m.exchange[self] = v;
  leave(at_warp);
  u64 r = own ? v : m.exchange[(self & ~31u) + lane];
  leave(at_warp);
  return r;
}

// unpack reads parameters as the driver lays them out: each at a multiple of its alignment.
template <class T> T unpack(const char *params, size_t &at) {
  at = (at + alignof(T) - 1) / alignof(T) * alignof(T);
  T v;
  memcpy(&v, params + at, sizeof v);
  at += sizeof v;
  return v;
}

template <class... A> void launch(void (*kernel)(A...), const void *params, u32 blocks, u32 threads) {
  Machine &m = machine;
  std::lock_guard<std::mutex> lock(m.mutex);
  size_t at = 0;
  std::tuple<A...> arguments{unpack<A>((const char *)params, at)...};
  auto call = [&] { std::apply(kernel, arguments); };
  m.entry = [](void *f) { (*(decltype(call) *)f)(); };
  m.argument = &call;
  m.threads = threads;
  m.blocks = blocks;
  for (m.block = 0; m.block < blocks; m.block++) run_block();
}

} // namespace host

#define EXPORT(name)                                                                                                   \
  extern "C" void name##_host(const void *params, u32 gx, u32, u32, u32 bx, u32, u32, u32) {                           \
    host::launch(name, params, gx, bx);                                                                                \
  }

DEVICE u32 thread_id() { return host::machine.thread; }
DEVICE u32 block_id() { return host::machine.block; }
DEVICE u32 block_size() { return host::machine.threads; }
DEVICE u32 grid_size() { return host::machine.blocks; }
DEVICE void sync_block() { host::leave(host::at_block); }
DEVICE void sync_warp() { host::leave(host::at_warp); }

DEVICE u32 ballot(bool p) {
  u32 self = thread_id() & ~31u, r = 0;
  host::machine.exchange[thread_id()] = p;
  host::leave(host::at_warp);
  for (u32 i = 0; i < 32; i++) r |= (u32)host::machine.exchange[self + i] << i;
  host::leave(host::at_warp);
  return r;
}
DEVICE u32 shuffle(u32 v, u32 lane) { return (u32)host::exchange(v, lane & 31, false); }
DEVICE u32 shuffle_up(u32 v, u32 by) {
  u32 lane = thread_id() & 31;
  return (u32)host::exchange(v, lane - by, lane < by);
}
DEVICE u32 shuffle_down(u32 v, u32 by) {
  u32 lane = thread_id() & 31;
  return (u32)host::exchange(v, lane + by, lane + by > 31);
}

template <class T> static inline T fetch_add(T *at, T v) {
  T old = *at;
  *at = old + v;
  return old;
}
DEVICE u32 atomic_add(u32 *at, u32 v) { return fetch_add(at, v); }
DEVICE f64 atomic_add(f64 *at, f64 v) { return fetch_add(at, v); }
DEVICE u64 atomic_min(u64 *at, u64 v) { return std::exchange(*at, MIN(*at, v)); }
DEVICE u64 atomic_max(u64 *at, u64 v) { return std::exchange(*at, MAX(*at, v)); }
DEVICE void publish(u64 *at, u64 v) { *at = v; }
DEVICE u64 observe(const u64 *at) { return *at; }
template <class T> static inline T load(const T *at) { return *at; }

inline void check_multiple(const void *at) {
  if ((size_t)at % 16) fprintf(stderr, "16 bytes are loaded at %p\n", at), abort();
}
DEVICE void load_pair(i64 &a, i64 &b, const i64 *at) { check_multiple(at), a = at[0], b = at[1]; }
DEVICE void load_four(u32 (&v)[4], const u32 *at) { check_multiple(at), memcpy(v, at, 16); }

DEVICE i64 bits_of(f64 v) { return __builtin_bit_cast(i64, v); }
DEVICE f64 value_of(i64 bits) { return __builtin_bit_cast(f64, bits); }
DEVICE f64 minimum(f64 a, f64 b) {
  if (a != a || b != b) return a != a ? b : a;
  return a == b ? value_of(bits_of(a) | bits_of(b)) : a < b ? a : b;
}
DEVICE f64 maximum(f64 a, f64 b) {
  if (a != a || b != b) return a != a ? b : a;
  return a == b ? value_of(bits_of(a) & bits_of(b)) : a > b ? a : b;
}
DEVICE f64 reciprocal_estimate(f64 v) { return value_of((i64)((u64)bits_of(1 / v) >> 32 << 32)); }
DEVICE i64 opaque(i64 v) { return v; }
DEVICE f64 divided(f64 a, f64 b) { return a / b; }
