// Package diskprobe checks the promises of a folder's file system on which claims on stores rely (package
// storage/claim). When many link or create one name, one succeeds. A rename is never seen half done. Links are counted,
// and locks exclude. A sync does not take longer than a lease lasts. With a second process on another machine it also
// measures for how long caches hide changes.
//
// It works in a folder of its own within the one it is asked about, and removes that at the end. Read probe.go first.
package diskprobe
