// Package storage holds what the stores below it share: the kind of error for bytes that do not decode.
//
// index, incoming and archive are Pebble stores, engine opens them, and claim decides which process may.
package storage
