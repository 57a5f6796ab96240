// Package pairs writes pairs of correlated columns: as text with numbers or names, CSV, or lines of JSON.
package pairs
