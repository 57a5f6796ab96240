// What the kernels of the correlator share: how columns are divided into tiles and rows into segments.
//
// 128 columns are a panel, and a tile is the products of one panel's columns with another's: [row of 128][column of 128], row the
// column of the first panel. A band's tiles are, first, the diagonal ones of all panels (their squares are what every coefficient
// is divided by), then the `tiles - panels` from number `first` on of those above the diagonal, row by row. 2,048 rows are a
// segment: centred on a value of its own, multiplied, and merged into the sums so far (Chan, Golub and LeVeque), as
// correlate/moments.go does with its chunks.
#pragma once
#include "device.h"

// UNROLL is for loops over registers; on the host it only costs time to compile.
#ifdef __CUDA__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL
#endif

constexpr u32 PANEL = 128, TILE = PANEL * PANEL, SEGMENT = 2048;
constexpr u32 STEP = 16; // rows that are multiplied at once; a chunk's rows are padded to a multiple of it

// Plan is a chunk of rows of one band.
struct Plan {
  u32 columns, panels;
  u32 first, tiles;  // of the band, see above
  u32 segment, rows; // the first segment meant; rows of the chunk, those of its other segments included
  u32 segments;      // how many are meant
  u32 unused;
  i64 before; // rows of the chunks before
};

DEVICE u32 rows_of(const Plan &p, u32 segment) { return MIN(SEGMENT, p.rows - (p.segment + segment) * SEGMENT); }

// above returns the number of the first tile above the diagonal in a row of tiles.
DEVICE u32 above(u32 row, u32 panels) { return row * (panels - 1) - row * (row - 1) / 2; }

// tile_at returns the panels of the band's t-th tile.
DEVICE void tile_at(const Plan &p, u32 t, u32 &i, u32 &j) {
  if (t < p.panels) {
    i = j = t;
    return;
  }
  u32 n = p.first + t - p.panels;
  f64 b = 2.0 * p.panels - 1;
  i = (u32)((b - __builtin_sqrt(b * b - 8.0 * n)) / 2);
  while (i > 0 && above(i, p.panels) > n) i--;
  while (above(i + 1, p.panels) <= n) i++;
  j = i + 1 + n - above(i, p.panels);
}

// Pair is one element of a tile.
struct Pair {
  u32 i, j; // columns
  bool some; // false: no pair, as beyond the columns or below the diagonal
};

DEVICE Pair pair_at(const Plan &p, u32 tile, u32 element) {
  u32 a, b;
  tile_at(p, tile, a, b);
  Pair pair = {a * PANEL + element / PANEL, b * PANEL + element % PANEL, false};
  pair.some = pair.i < pair.j && pair.j < p.columns;
  return pair;
}

// about_mean returns a segment's co-moment: its sum of products less what is due to its centres, where x and y sum to so much.
DEVICE f64 about_mean(f64 products, f64 sum_x, f64 sum_y, f64 n) { return products - sum_x * sum_y * (1 / n); }

// merge adds a segment's co-moment: by how much its means lie beside those so far, and the product of both numbers of rows by their
// sum. With about_mean the twin of merge in correlate/column.go.
DEVICE f64 merge(f64 moment, f64 within, f64 delta_x, f64 delta_y, f64 weight) { return moment + (within + delta_x * delta_y * weight); }

// Mean is the sum of two f64, as in correlate/column.go.
struct Mean {
  f64 high, low;
};
DEVICE Mean plus(Mean m, f64 d) {
  f64 low = m.low + d, high = m.high + low;
  return {high, low - (high - m.high)};
}
DEVICE f64 minus(Mean a, Mean b) { return (a.high - b.high) + (a.low - b.low); }
DEVICE Mean mean_of(f64 centre, f64 sum, f64 n) { return plus({centre, 0}, sum / n); }

// State is what all rows of the columns come to so far: arrays of `columns` numbers, one after the other.
struct State {
  f64 *n, *high, *low, *moment;
};
DEVICE State state_of(f64 *at, u32 columns) { return {at, at + columns, at + 2 * columns, at + 3 * columns}; }

DEVICE bool missing(f64 v) { return v - v != 0; }
