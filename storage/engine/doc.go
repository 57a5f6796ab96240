// Package engine opens the Pebble stores: one set of options for the index, the incoming stores and the archives, so
// that they differ only in what they must (memory, merger). It also watches them: it logs Pebble's errors in the
// background, ends the process if a store becomes unusable, and PebbleCollector shows the figures of all stores.
//
// It tells damage in logs and manifests from writes that a crash cut short, which Pebble does not: recorder.go notes
// how far they are durable, file_record.go says how that is written down, check.go compares at every opening, chunks.go
// reads to the end of a log. Decision 0036 has the reasons.
//
// Invariant: a write or sync that failed is never followed by more work on that store. Pebble repeats a failed flush
// without a pause and may have lost, by a failed sync, what it believes written; only opening the store anew
// establishes what it holds. A full disk alone is waited for: Pebble loses nothing by it, and dying would take the
// reads away as well.
package engine
