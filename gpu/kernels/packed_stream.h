// Streams: up to 1,024 integers as the archive packs them (docs/format/split.md says how), decoded by a block of 128 threads into
// shared memory. Whatever the bytes say, none is read behind the column's end, and none written behind the integers.
#pragma once
#include "device.h"

constexpr u32 UNPACK_THREADS = 128, UNPACK_WARPS = UNPACK_THREADS / WARP;
constexpr u32 VECTOR = 1024, MINI = 128, MINIS = VECTOR / MINI, UNPACK_ITEMS = VECTOR / UNPACK_THREADS;

// The flags of a stream, and those of classes.
constexpr u32 ORDER = 3, CONSTANT = 4, SHIFTED = 8, ONE_WIDTH = 16, PATCHED = 32, CLASSED = 64, STREAM_KNOWN = 127;
constexpr u32 CLASS_BITS = 3, CLASS_ZIGZAG = 4, CLASS_KNOWN = 7, WIDEST_CLASS = 56; // none is relative here

// Column is bytes that are read from front to back.
struct Column {
  const u64 *words; // bytes are those of whole words, little endian
  u64 at, end;      // bytes from there
  bool ok;          // so far
};

DEVICE u64 word_at(const u64 *words, u64 i) { return (u64)load((const i64 *)words + i); }

// bits_at returns n bits, at most 64, from a bit on. No word is read that has none of them.
DEVICE u64 bits_at(const u64 *words, u64 bit, u32 n) {
  if (n == 0) return 0;
  const u32 from = bit % 64;
  u64 v = word_at(words, bit / 64) >> from;
  if (from + n > 64) v |= word_at(words, bit / 64 + 1) << (64 - from);
  return v & ~0ull >> (64 - n);
}

// number is where number i of a vector lies in shared memory: aside, so that threads which have eight in a row each do not wait for the
// same banks.
constexpr u32 ROOM = VECTOR + VECTOR / 8;
DEVICE u64 &number(u64 *numbers, u32 i) { return numbers[i + i / 8]; }

DEVICE u64 unzigzag(u64 v) { return v >> 1 ^ (0 - (v & 1)); }

// What one thread reads. What is not there is 0, and the column no longer ok.
CALLED u64 next_bits(Column &c, u32 bytes) {
  if (bytes > c.end - c.at) {
    c.ok = false;
    return 0;
  }
  c.at += bytes;
  return bits_at(c.words, (c.at - bytes) * 8, bytes * 8);
}
CALLED u64 next_uvarint(Column &c) {
  u64 v = 0;
#pragma unroll 1
  for (u32 shift = 0; shift < 64; shift += 7) {
    const u64 b = next_bits(c, 1);
    v |= (b & 127) << shift;
    if (b < 128) {
      if (shift == 63 && b > 1) c.ok = false;
      return v;
    }
  }
  c.ok = false;
  return v;
}
// skip passes over bytes that others read.
DEVICE u64 skip(Column &c, u64 bits) {
  const u64 bytes = (bits + 7) / 8, at = c.at;
  if (bytes > c.end - at) c.ok = false;
  else c.at += bytes;
  return at;
}

// Stream is a stream's head, and where its parts begin, in bytes.
struct Stream {
  u32 flags, order, shift;
  u64 base, starts[2];
  u32 widths[MINIS]; // of mini-vectors, or of classes
  u64 minis[MINIS];
  u32 class_flags, code_bits;
  u64 codes, numbers;
};

DEVICE void read_widths(Column &c, Stream &s, u32 n) {
  const u32 minis = (n + MINI - 1) / MINI;
#pragma unroll 1
  for (u32 m = 0; m < minis; m++) {
    s.widths[m] = m == 0 || !(s.flags & ONE_WIDTH) ? (u32)next_bits(c, 1) : s.widths[0];
    if (s.widths[m] > 64) c.ok = false;
  }
#pragma unroll 1
  for (u32 m = 0; m < minis && c.ok; m++) s.minis[m] = skip(c, MIN(n - m * MINI, MINI) * s.widths[m]);
}

DEVICE void read_class_widths(Column &c, Stream &s, u32 n) {
  s.class_flags = (u32)next_bits(c, 1);
  s.code_bits = s.class_flags & CLASS_BITS;
  if ((s.flags & (ONE_WIDTH | PATCHED)) || (s.class_flags & ~CLASS_KNOWN) || s.code_bits > 2) c.ok = false;
  if (!c.ok) return;
  for (u32 k = 0; k < 1u << s.code_bits; k++) {
    s.widths[k] = (u32)next_bits(c, 1);
    if (s.widths[k] > WIDEST_CLASS) c.ok = false;
  }
  s.codes = skip(c, n * s.code_bits);
  s.numbers = c.at;
}

CALLED void read_head(Column &c, Stream &s, u32 n) {
  s.flags = (u32)next_bits(c, 1);
  s.order = s.flags & ORDER;
  s.base = unzigzag(next_uvarint(c));
  if ((s.flags & ~STREAM_KNOWN) || s.order > 2 || s.order >= n) c.ok = false;
  for (u32 o = 0; o < s.order && c.ok; o++) s.starts[o] = unzigzag(next_uvarint(c));
  if (s.flags & CONSTANT) {
    if (s.flags & ~(CONSTANT | ORDER)) c.ok = false;
    return;
  }
  s.shift = s.flags & SHIFTED ? (u32)next_bits(c, 1) : 0;
  if (s.shift > 63) c.ok = false;
  if (!c.ok) return;
  if (s.flags & CLASSED) read_class_widths(c, s, n);
  else read_widths(c, s, n);
}

// sum_before_in_block returns the sum of what the threads of the block before this one bring. All threads come here.
DEVICE u64 sum_before_in_block(u64 v) {
  SHARED u64 sums[UNPACK_WARPS];
  u64 sum = v;
  for (u32 by = 1; by < WARP; by *= 2) {
    const u64 other = shuffle_up(sum, by);
    if (lane_id() >= by) sum += other;
  }
  sync_block(); // the sums of before have been read
  if (lane_id() == WARP - 1) sums[warp_id()] = sum;
  sync_block();
  for (u32 w = 0; w < warp_id(); w++) sum += sums[w];
  return sum - v;
}

// number_at returns a number of a mini-vector of MINI: number i / 2 of lane i % 2, whose words alternate.
DEVICE u64 number_at(const u64 *words, u64 mini, u32 i, u32 width) {
  const u32 bit = i / 2 * width, from = bit % 64, first = MIN(width, 64 - from);
  const u64 lane = mini * 8 + bit / 64 * 128 + i % 2 * 64;
  u64 v = bits_at(words, lane + from, first);
  if (first < width) v |= bits_at(words, lane + 128, width - first) << first;
  return v;
}

DEVICE void unpack_minis(const Column &c, const Stream &s, u64 *numbers, u32 n) {
  for (u32 i = thread_id(); i < n; i += UNPACK_THREADS) {
    const u32 m = i / MINI, width = s.widths[m];
    const u64 v = (m + 1) * MINI <= n ? number_at(c.words, s.minis[m], i % MINI, width)
                                      : bits_at(c.words, s.minis[m] * 8 + i % MINI * width, width);
    number(numbers, i) = s.base + (v << s.shift);
  }
}

// unpack_classes finds where each number begins by the sum of the widths before it.
DEVICE void unpack_classes(Column &c, const Stream &s, u64 *numbers, u32 n) {
  const u32 first = thread_id() * UNPACK_ITEMS, items = first < n ? MIN(n - first, UNPACK_ITEMS) : 0;
  const u32 mask = (1u << s.code_bits) - 1;
  u32 codes = (u32)bits_at(c.words, s.codes * 8 + first * s.code_bits, items * s.code_bits), sum = 0;
#pragma unroll 1
  for (u32 j = 0; j < items; j++) sum += s.widths[codes >> j * s.code_bits & mask];
  const u64 before = sum_before_in_block((u64)sum);
  if (thread_id() == UNPACK_THREADS - 1) skip(c, before + sum);
  sync_block();
  if (!c.ok) return;
  u64 bit = s.numbers * 8 + before;
#pragma unroll 1
  for (u32 j = 0; j < items; j++) {
    const u32 width = s.widths[codes >> j * s.code_bits & mask];
    const u64 v = bits_at(c.words, bit, width);
    number(numbers, first + j) = s.base + ((s.class_flags & CLASS_ZIGZAG ? unzigzag(v) : v) << s.shift);
    bit += width;
  }
}

// uvarint_at returns a uvarint of that many bytes; ok is false if it does not fit 64 bits.
DEVICE u64 uvarint_at(const u64 *words, u64 at, u32 bytes, bool &ok) {
  u64 v = 0;
#pragma unroll 1
  for (u32 k = 0; k < MIN(bytes, 10); k++) v |= bits_at(words, (at + k) * 8, 7) << 7 * k;
  if (bytes > 10 || (bytes == 10 && bits_at(words, (at + 9) * 8, 8) > 1)) ok = false;
  return v;
}

// patch adds what the patches say, 32 bytes of them at a time, for one warp: bytes below 128 end a uvarint, the even ones are gaps,
// and positions add up.
CALLED void patch(Column &c, const Stream &s, u64 *numbers, u32 n) {
  const u32 lane = lane_id();
  const u64 count = shuffle(lane == 0 ? next_uvarint(c) : 0, 0);
  sync_warp();
  bool ok = c.ok && count <= n;
  u64 at = c.at;
  u32 left = ok ? 2 * (u32)count : 0, position = 0;
  while (left) {
    const u32 ends = ballot(at + lane < c.end && bits_at(c.words, (at + lane) * 8, 8) < 128);
    const u32 whole = MIN(ones(ends), left) & ~1u;
    u32 begin = 0, rest = ends; // of the lane's uvarint
#pragma unroll 1
    for (u32 k = 0; k < lane && lane < whole; k++) begin = (u32)__builtin_ctz(rest) + 1, rest &= rest - 1;
    const u32 end = lane < whole ? (u32)__builtin_ctz(rest) + 1 : 0;
    const u64 v = uvarint_at(c.words, at + begin, end - begin, ok);
    const bool gap = lane < whole && lane % 2 == 0, high = lane < whole && lane % 2;
    u32 sum = gap ? (u32)MIN(v, n) + 1 : 0;
    for (u32 by = 1; by < WARP; by *= 2) {
      const u32 other = shuffle_up(sum, by);
      if (lane >= by) sum += other;
    }
    const u32 p = position + sum - 1;
    ok = ok && !(high && p >= n);
    ok = ballot(ok) == ~0u && whole; // a pair has 20 bytes at most
    if (!ok) break;
    if (high && s.widths[p / MINI] < 64) number(numbers, p) += v << s.widths[p / MINI] << s.shift;
    position += shuffle(sum, WARP - 1);
    at += shuffle(end, whole - 1);
    left -= whole;
  }
  sync_warp(); // all have read the column
  if (lane == 0) c.at = at, c.ok = ok;
}

// add_up replaces numbers, from number o + 1 on, by their sums; number o is start, those before it 0.
DEVICE void add_up(u64 *numbers, u32 n, u32 o, u64 start) {
  const u32 first = thread_id() * UNPACK_ITEMS;
  u64 v[UNPACK_ITEMS], sum = 0;
#pragma unroll
  for (u32 j = 0; j < UNPACK_ITEMS; j++) {
    const u32 i = first + j;
    sum += i >= n || i < o ? 0 : i == o ? start : number(numbers, i);
    v[j] = sum;
  }
  const u64 before = sum_before_in_block(sum);
#pragma unroll
  for (u32 j = 0; j < UNPACK_ITEMS; j++)
    if (first + j < n) number(numbers, first + j) = before + v[j];
}

// decode_stream splits a stream of n integers off the column, unless that is not ok any more, and returns whether it is. All threads
// of the block come here, and none has looked at the column since the last barrier but the first, which reads on at once.
DEVICE bool decode_stream(Column &c, u64 *numbers, u32 n) {
  SHARED Stream s;
  if (thread_id() == 0 && c.ok) read_head(c, s, n);
  sync_block();
  if (!c.ok) return false;
  if (s.flags & CONSTANT) {
    for (u32 i = thread_id(); i < n; i += UNPACK_THREADS) number(numbers, i) = s.base;
  } else if (s.flags & CLASSED) {
    unpack_classes(c, s, numbers, n);
  } else {
    unpack_minis(c, s, numbers, n);
    if (s.flags & PATCHED) {
      sync_block();
      if (warp_id() == 0) patch(c, s, numbers, n);
    }
  }
  sync_block();
  if (!c.ok) return false;
  for (u32 o = s.order; o-- > 0;) add_up(numbers, n, o, s.starts[o]);
  sync_block();
  return true;
}
