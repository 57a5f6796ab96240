// unpack: vectors of 1,024 measures, as the archive stores raw series (docs/format/raw.md), to the columns of a chunk.
//
//   timestamp = add + scale * integer        of a stream of integers, ascending
//   value     = integer / 10^e               of a vector column of kind decimal, of kind float, or of kind float by prefix
//
// In: the vectors' bytes, side by side in whole words, and of each vector what struct Vector says (80 bytes a vector). Out: of those
// measures that are wanted f64 values, and u32 or i64 timestamps. 2 to 4 bytes a measure are read, as a rule, and 8 and 4 or 8
// written. *faults, 0 before, counts vectors that do not decode: of these, timestamps are one unit apart, so that they
// are as many groups as the host takes them for at most, whatever else is made of them.
//
// Launch: 128 threads, a block for each vector; one launch for values, one for timestamps. A thread has eight numbers in a row.
// Sums give the places of numbers in classes, and differences their integers. What is serial in the bytes one thread reads, heads and
// exceptions, but for patches, which a warp reads together.
#include "packed_stream.h"

struct Vector {
  u64 times, values;             // where its stream of timestamps and its column of values begin, in bytes
  u32 times_bytes, values_bytes;
  u32 n, from, to;               // measures; those of them that are wanted
  u32 out;                       // where the first of these goes
  u32 exact, unused;             // the last integer is last
  i64 first, last;               // integers: the first, and the highest possible, far enough above for n of them
  i64 add, scale;                // an integer's timestamp
};
static_assert(sizeof(Vector) == 80, "as gpu/unpack.go writes them");

// The kinds of a column that stand for themselves, and the flags beside.
constexpr u32 DECIMAL = 0, FLOAT = 3, FRONTS = 5;
constexpr u32 KIND = 7, RESIDUALS = 8, EXCEPTIONS = 16, COLUMN_KNOWN = 31, ZONE_BYTES = 4, MOST_FRONTS = 16;
constexpr u64 ABSENT = 0x7ff8000000000001;

// rank is its own inverse: of a float64's bits its number in ascending order, and back.
DEVICE u64 rank(u64 bits) { return bits ^ (u64)((i64)bits >> 63) >> 1; }

DEVICE f64 power_of_ten(u32 e) {
  f64 power = 1; // exact
#pragma unroll 1
  for (u32 k = 0; k < e; k++) power *= 10;
  return power;
}

struct ColumnHead {
  u32 flags, kind, exponent, fronts;
  u64 front[MOST_FRONTS];
};

CALLED void read_column_head(Column &c, ColumnHead &h) {
  h.flags = (u32)next_bits(c, 1);
  h.kind = h.flags & KIND;
  h.exponent = (u32)next_bits(c, 1);
  next_bits(c, ZONE_BYTES);
  if ((h.flags & ~COLUMN_KNOWN) || h.exponent > 10) c.ok = false;
  if (h.kind != DECIMAL && h.kind != FLOAT && h.kind != FRONTS) c.ok = false;
  if (h.kind != FRONTS || !c.ok) return;
  h.fronts = (u32)next_bits(c, 1);
  if (h.fronts == 0 || h.fronts > MOST_FRONTS || (h.flags & RESIDUALS)) c.ok = false;
#pragma unroll 1
  for (u32 k = 0; k < MOST_FRONTS; k++) {
    const u64 front = k < h.fronts ? next_bits(c, 2) : 0;
    if (front >> 12) c.ok = false;
    h.front[k] = front << 52;
  }
}

// read_exceptions puts the exceptions among the values. For one thread.
CALLED void read_exceptions(Column &c, u64 *values, u32 n) {
  const u64 count = next_uvarint(c);
  if (count > n) c.ok = false;
  u64 at = 0;
#pragma unroll 1
  for (u64 k = 0; k < count && c.ok; k++) {
    const u64 gap = next_uvarint(c);
    if (gap >> 1 >= n - at) c.ok = false;
    const u64 bits = gap & 1 ? ABSENT : next_bits(c, 8);
    if (!c.ok) return;
    at += gap >> 1;
    number(values, (u32)at++) = bits;
  }
}

KERNEL(UNPACK_THREADS) unpack_values(const u64 *packed, const Vector *vectors, f64 *out, u32 *faults) {
  SHARED u64 numbers[ROOM];
  SHARED Column c;
  SHARED ColumnHead h;
  const Vector v = vectors[block_id()];
  if (thread_id() == 0) {
    c.words = packed, c.at = v.values, c.end = v.values + v.values_bytes, c.ok = true;
    read_column_head(c, h);
  }
  const u32 first = thread_id() * UNPACK_ITEMS;
  u64 value[UNPACK_ITEMS] = {}; // bits
  bool bad = false, ok = true;
#pragma unroll 1
  for (u32 stream = 0, streams = 1; ok && stream < streams; stream++) {
    ok = decode_stream(c, numbers, v.n);
    streams = h.kind == FRONTS || (h.flags & RESIDUALS) ? 2 : 1;
    const f64 power = power_of_ten(h.exponent);
#pragma unroll
    for (u32 j = 0; j < UNPACK_ITEMS; j++) {
      const u64 told = ok && first + j < v.n ? number(numbers, first + j) : 0;
      if (stream == 1 && h.kind == FRONTS) {
        bad |= value[j] >= h.fronts || told >> 52;
        value[j] = h.front[value[j] % MOST_FRONTS] | told;
      } else if (stream == 1) {
        value[j] = rank(rank(value[j]) + told);
      } else {
        value[j] = h.kind == DECIMAL ? (u64)bits_of((f64)(i64)told / power) : h.kind == FLOAT ? rank(told) : told;
      }
    }
    sync_block();
  }
#pragma unroll
  for (u32 j = 0; j < UNPACK_ITEMS; j++)
    if (first + j < v.n) number(numbers, first + j) = value[j];
  sync_block();
  if (thread_id() == 0) {
    if (c.ok && (h.flags & EXCEPTIONS)) read_exceptions(c, numbers, v.n);
    bad |= !c.ok || c.at != c.end;
  }
  if (bad) atomic_add(faults, 1);
  sync_block();
  for (u32 i = v.from + thread_id(); i < v.to; i += UNPACK_THREADS) out[v.out + i - v.from] = value_of((i64)number(numbers, i));
}

KERNEL(UNPACK_THREADS) unpack_times(const u64 *packed, const Vector *vectors, void *out, u32 *faults, u32 wide) {
  SHARED u64 numbers[ROOM];
  SHARED Column c;
  SHARED u32 bad[UNPACK_WARPS];
  const Vector v = vectors[block_id()];
  if (thread_id() == 0) c.words = packed, c.at = v.times, c.end = v.times + v.times_bytes, c.ok = true;
  bool ok = decode_stream(c, numbers, v.n) && c.at == c.end;
  for (u32 i = thread_id(); ok && i < v.n; i += UNPACK_THREADS) {
    const i64 t = (i64)number(numbers, i);
    ok = t <= v.last && (i ? t > (i64)number(numbers, i - 1) : t == v.first) && !(v.exact && i == v.n - 1 && t != v.last);
  }
  const u32 all = ballot(ok);
  if (lane_id() == 0) bad[warp_id()] = all != ~0u;
  sync_block();
  bool any = false;
  for (u32 w = 0; w < UNPACK_WARPS; w++) any |= bad[w];
  if (any && thread_id() == 0) atomic_add(faults, 1);
  for (u32 i = v.from + thread_id(); i < v.to; i += UNPACK_THREADS) {
    const i64 t = v.add + (any ? v.first + i : (i64)number(numbers, i)) * v.scale;
    if (wide) ((i64 *)out)[v.out + i - v.from] = t;
    else ((u32 *)out)[v.out + i - v.from] = (u32)t;
  }
}
EXPORT(unpack_values)
EXPORT(unpack_times)
