// Package correlate finds which of many columns say the same thing: the correlation coefficient of all pairs of
// columns, by Pearson on the values or by Spearman on their ranks, at the best of several lags, with rows missing here
// and there.
//
// Run goes over a Source, which gives rows of all columns piece by piece and may be larger than memory, and hands out
// pairs. A Matrix is what it fills (start in matrix.go); a Selection keeps the strongest pairs. gnocco-correlate
// reads columns from text.
//
// # Numerics
//
// The formula E[xy] − E[x]E[y] loses all digits where means are large. So rows are taken in chunks; a chunk's columns
// are centred on their mean there and scaled by a power of two; the products of centred columns are summed (package
// tile); and the chunk's co-moments are merged into the total with the difference of the two means (Chan). Means are
// kept as the sum of two float64. A coefficient is within 1e-12 of its true value, for any mean up to 1e8 standard
// deviations, and it is symmetric and in [-1, 1]. It has the same bits for any number of workers, pieces of rows, bound
// on memory and processor.
//
// NaN and infinities are missing values. A pair counts the rows that both its columns have. Where a column is constant
// on them, or fewer than MinOverlap are left, there is no coefficient: NaN.
//
// # Memory
//
// Sums of pairs take 8 bytes a pair and lag, 64 once a column of theirs has had gaps. Where they are more than the
// bound, Run goes over the source several times, for a band of the matrix each.
//
// # Where a device fits in
//
// Engine is the seam: a source and a selection in, pairs out, so that the strongest are chosen where the coefficients
// are. CPU is the one here; package gpu/correlate has the other.
package correlate
