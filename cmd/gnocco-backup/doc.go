// Command gnocco-backup has the commands backup and restore of gnocco for repositories in buckets of S3, and encrypts
// them by age. gnocco runs it when --to or --from is an address, or a key is given. Amazon's client is heavier than all
// that gnocco does with backups, so this is a module of its own.
//
// bucket.go is the storage in a bucket, lock.go keeps it to one writer, encryption.go is age. Package
// backup says what a backup consists of.
package main
