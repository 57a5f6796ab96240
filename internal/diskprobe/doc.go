// Package diskprobe finds out whether a folder's file system does what claims on stores rely on (package
// storage/claim): that of many who link or create one name one succeeds, that a rename is never seen half done, that
// links are counted, that locks exclude, that a sync does not take longer than a lease lasts. With a second process on
// another machine it also measures for how long caches hide changes.
//
// It works in a folder of its own within the one it is asked about, and removes that at the end. Read probe.go first.
package diskprobe
