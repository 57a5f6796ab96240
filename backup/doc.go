// Package backup copies a data folder while its cluster serves, and makes a new data folder from such a copy.
//
// The problem: a data folder has many stores, which change independently of each other, and no moment at which all of
// them are at rest. Copied one after the other they are states of different moments. Measures could be lacking that
// moved from an incoming store into a sack, or be there twice.
//
// The simple idea is to make all processes hold still while the stores are copied, or at least to keep incoming stores
// from deleting. Either needs every process, and something that ends the hold when the backup dies.
//
// The rule needs neither. It is an order: first all incoming stores, then all sacks, then the index.
//
//   - All measures are there. One that was acknowledged before the backup is in the copy of its incoming store, or was
//     deleted there before. It is deleted only once a sack's store holds it durably, and that store is copied later.
//   - No measure is there twice. Each commit of a sack's store says up to which sequence of which incoming store it
//     holds the measures. These marks are never removed. Records of the copy up to the mark are skipped, as after a
//     crash.
//   - No archive lacks its metric. A metric is in the index before its first measure is accepted, and the index is
//     copied last.
//   - No new measure is taken for an old one. A sack's copy may have marks above everything in the copy of an incoming
//     store, since it is later. Restore raises the epochs of incoming stores above all marks (incoming.SkipSequences).
//   - Archives have the schemas that the index expects. A rebuild changes both, so a backup during which one ran or
//     began is taken anew (see indexes.go).
//
// Each store is copied from a snapshot of its folder (claim.Snapshot), which needs no help from its holder: backups
// work without a process as well. A snapshot is opened before it is copied, so that it is known to be a state that the
// store had. Sacks take in tables beside their logs and are copied from a moment without a write. The other stores
// write to their logs only, and those may grow meanwhile.
//
// The law: a backup that ends without an error restores all of the folder. Any other says what it lacks, and no earlier
// backup is dropped. So a missing store fails the backup (expected.go), tables are read by their own checksums, damaged
// files are copied as they are and named in the manifest (ErrIncomplete), and objects of earlier backups are verified
// (Repository.verify). A restore writes all that can be read, and leaves a folder whose damaged stores servers name, as
// they did in the folder that was copied.
//
// A repository is a Storage, a folder here: objects/<sha256> has the content of each file, once; backups/<name>.json
// says which stores and files make up a backup. A table never changes, so one that an earlier backup has is not read
// again. Read take.go first, then repository.go and restore.go.
package backup
