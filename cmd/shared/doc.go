// Package shared has the commands backup and restore, and default folders. Two programs have them: gnocco, for folders,
// and gnocco-backup, a module of its own, also for buckets of S3 and with encryption. They differ in how they open a
// repository.
package shared
