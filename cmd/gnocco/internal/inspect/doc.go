// Package inspect looks into the data folder of a server that is not running (package offline): which stores there are,
// which metrics, and how their splits are stored. It changes nothing.
//
// Archives are read by the key layout of docs/format/archive.md below the code that normally reads them, so that what
// does not decode is shown as well.
package inspect
