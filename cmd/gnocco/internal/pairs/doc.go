// Package pairs writes pairs of correlated columns: as text with numbers or names, CSV, lines of JSON, or Parquet.
package pairs
