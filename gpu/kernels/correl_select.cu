// correl_top_columns, correl_histogram, correl_digit, correl_emit: the strongest pairs, so that only they are copied to the host.
//
// A strength |r| becomes a key of 32 bits, 1 + floor(|r| * 2^31), 0 where there is no coefficient. The K-th largest key is found
// digit by digit (11, 11 and 10 bits), by counting. Pairs with the same key as the K-th are all kept: the host takes the exact
// choice among them.
//
// In: r ([tile][element]) and what belongs to it. Out: a list of found pairs, in any order, and their number, which may be more
// than there is room for. Bytes: correl_top_columns reads 8 in each row of a column's pairs and 32 in each column, three times over,
// mostly from the second-level cache; the others 8 a pair, histograms three times.
// Launch: 256 threads; a block a column; a block a tile; one block; a block a tile.
#include "correl.h"

constexpr u32 DIGITS = 2048, PASSES = 3;

DEVICE u32 strength_key(f64 r) { return r != r ? 0 : 1 + (u32)((r < 0 ? -r : r) * 2147483648.0); }

// Choice is how far the K-th largest key is known: its digits from the top, and how many are wanted of those that share them.
struct Choice {
  u32 prefix, wanted;
};

DEVICE u32 shift_of(u32 pass) { return pass == 0 ? 21 : pass == 1 ? 10 : 0; }
DEVICE bool shares(u32 key, u32 prefix, u32 pass) { return pass == 0 || key >> shift_of(pass - 1) == prefix >> shift_of(pass - 1); }
DEVICE u32 digit_of(u32 key, u32 pass) { return key >> shift_of(pass) & (DIGITS - 1) >> (pass == 2); }

// narrow goes on to the next digit: counts are of the keys that share the prefix. All threads of a block of 256 call it.
DEVICE void narrow(Choice &choice, const u32 *counts, u32 pass) {
  SHARED u32 sums[256];
  SHARED Choice next;
  constexpr u32 each = DIGITS / 256;
  u32 sum = 0;
  for (u32 k = 0; k < each; k++) sum += counts[thread_id() * each + k];
  sums[thread_id()] = sum;
  sync_block();
  if (thread_id() == 0) {
    u32 left = choice.wanted, at = 256;
    while (at > 0 && sums[at - 1] < left) left -= sums[--at];
    next = {0, 0}; // fewer than wanted: all that have a coefficient
    if (at > 0) {
      u32 digit = at * each;
      while (counts[digit - 1] < left) left -= counts[--digit];
      next = {choice.prefix | (digit - 1) << shift_of(pass), left};
    }
  }
  sync_block();
  choice = next;
}

// Rows tells which rows of tiles a band has, beside all diagonal tiles.
struct Rows {
  u32 from, to;
};

// index_of returns where a pair's coefficient lies.
DEVICE bool index_of(const Plan &p, const Rows &rows, u32 i, u32 j, u64 &at) {
  u32 a = MIN(i, j), b = MAX(i, j), row = a / PANEL, column = b / PANEL;
  if (row < rows.from || row >= rows.to) return false;
  u32 tile = row == column ? row : p.panels + above(row, p.panels) + column - row - 1 - p.first;
  at = (u64)tile * TILE + a % PANEL * PANEL + b % PANEL;
  return true;
}

// thresholds[column] becomes the K-th largest key of its pairs.
KERNEL(256) correl_top_columns(Plan plan, Rows rows, const f64 *r, u32 wanted, u32 *thresholds) {
  SHARED u32 counts[DIGITS];
  const u32 column = block_id();
  Choice choice = {0, wanted};
  for (u32 pass = 0; pass < PASSES && choice.wanted; pass++) {
    for (u32 k = thread_id(); k < DIGITS; k += 256) counts[k] = 0;
    sync_block();
    for (u32 other = thread_id(); other < plan.columns; other += 256) {
      u64 at;
      if (other == column || !index_of(plan, rows, column, other, at)) continue;
      u32 key = strength_key(r[at]);
      if (key && shares(key, choice.prefix, pass)) atomic_add(counts + digit_of(key, pass), 1u);
    }
    sync_block();
    narrow(choice, counts, pass);
  }
  if (thread_id() == 0) thresholds[column] = MAX(choice.prefix, 1u);
}
EXPORT(correl_top_columns)

// counts[digit] of all pairs that share the choice's prefix. Diagonal tiles of other bands' rows are left out.
DEVICE bool of_band(const Plan &p, const Rows &rows, u32 tile) { return tile >= p.panels || (tile >= rows.from && tile < rows.to); }

KERNEL(256) correl_histogram(Plan plan, Rows rows, const f64 *r, const Choice *choice, u32 pass, u32 *counts) {
  SHARED u32 own[DIGITS];
  const u32 tile = block_id(), prefix = choice->prefix;
  if (!of_band(plan, rows, tile) || !choice->wanted) return;
  for (u32 k = thread_id(); k < DIGITS; k += 256) own[k] = 0;
  sync_block();
  for (u32 k = thread_id(); k < TILE; k += 256) {
    u32 key = strength_key(r[(u64)tile * TILE + k]);
    if (key && shares(key, prefix, pass)) atomic_add(own + digit_of(key, pass), 1u);
  }
  sync_block();
  for (u32 k = thread_id(); k < DIGITS; k += 256)
    if (own[k]) atomic_add(counts + k, own[k]);
}
EXPORT(correl_histogram)

// choice goes on by counts, which become 0.
KERNEL(256) correl_digit(Choice *choice, u32 *counts, u32 pass) {
  Choice c = *choice;
  if (!c.wanted) return;
  narrow(c, counts, pass);
  for (u32 k = thread_id(); k < DIGITS; k += 256) counts[k] = 0;
  if (thread_id() == 0) *choice = c;
}
EXPORT(correl_digit)

struct Found {
  f64 r, overlap;
  u32 i, j, lag, unused;
};

struct Selection {
  f64 least;             // |r| at least
  const u32 *thresholds; // a column; or null
  const Choice *choice;  // or null
  u64 room;
  Found *found;
  u32 *numbers; // of pairs found, and of those whose |r| is at least `least`
};

KERNEL(256) correl_emit(Plan plan, Rows rows, const f64 *r, const u32 *lag, const f64 *overlap, Selection s) {
  const u32 tile = block_id();
  if (!of_band(plan, rows, tile)) return;
  u32 eligible = 0;
  for (u32 k = thread_id(); k < TILE; k += 256) {
    u64 at = (u64)tile * TILE + k;
    Pair pair = pair_at(plan, tile, k);
    f64 v = r[at];
    u32 key = pair.some ? strength_key(v) : 0;
    bool wanted = key && (v < 0 ? -v : v) >= s.least;
    eligible += wanted;
    if (wanted && s.thresholds) wanted = key >= s.thresholds[pair.i] || key >= s.thresholds[pair.j];
    if (wanted && s.choice) wanted = key >= s.choice->prefix;
    if (!wanted) continue;
    u32 place = atomic_add(s.numbers, 1u);
    if (place < s.room) s.found[place] = {v, overlap ? overlap[at] : 0, pair.i, pair.j, lag ? lag[at] : 0, 0};
  }
  if (eligible) atomic_add(s.numbers + 1, eligible);
}
EXPORT(correl_emit)
