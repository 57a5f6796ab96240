// Package fsck checks the data folder of a server that is not running: every block of every table, every split, raw
// series and incoming block, and what they say of each other. It tells what is damaged by metric, granularity and time,
// what of that can be computed again, from the raw series or a finer granularity, and what is lost; with Repair it does
// so.
//
// Start with check.go. sack.go walks a sack's store, remedy.go finds what a damaged split held, repair.go writes.
//
// Invariants:
//   - Without Repair nothing in the folder changes.
//   - A repair removes no bytes: operands that do not decode are kept under keys of their own (archive.SetAside), a
//     store with damaged tables stays beside the one that was copied from it.
//   - A repair puts no group where an intact one is, and none whose measures are not all known.
//   - A second repair finds nothing to do.
package fsck
