// Package pairs writes pairs of correlated columns: as text, CSV, lines of JSON, or Parquet.
package pairs
