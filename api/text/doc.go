// Package text writes what the API answers: numbers as Python writes them, JSON with Python's spaces, and rows of
// aggregates.
//
// Writer is the one writer of rows. An answer of measures is mostly rows, so its path allocates nothing per row and
// formats only what differs from the row before.
package text
