// Package inspect looks into the data folder of a server that is not running: which stores there are, which metrics, and how
// their splits are stored. It holds the folder's lock and changes nothing: archives and incoming stores are opened read-only,
// the index on a copy in memory.
//
// Archives are read by the key layout of docs/format/archive.md (archive_key.go) below the code that normally reads them, so that
// what does not decode is shown as well.
package inspect
