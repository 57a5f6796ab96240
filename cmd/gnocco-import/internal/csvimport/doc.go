// Package csvimport reads measures from CSV, JSON lines, lines of InfluxDB and Graphite, and Prometheus' blocks, and
// sends them to a server through its REST API.
//
// A csv.Reader, or a jsonReader, gives the records, columns says which of their fields is the timestamp and which are
// metrics, and an Importer adds their measures to a spool; Lines reads series in JSON, Influx and Graphite those of
// senders, Blocks the files of Prometheus.
// A server drops measures that are older than the back window before a metric's newest, and it judges request by
// request. So an import sends measures only after it has read all files, and the spool returns the measures in order of
// time. Files may be larger than memory.
//
// The law: an import names and counts all that the archives will not have as the files have it. Lines are rejected by
// number, columns that are left out or renamed are listed, and archivePolicy counts the measures that are merged or too
// old. Result.Whole is false then, and the exit status 2. A dry run says the same. testdata/outcomes.txt is the law by
// kinds of files.
//
// A metric's measures arrive in that order: two requests must not overtake one another. Each metric belongs to one
// sender, senders send one request at a time, and requests are in flight at once because there are several senders.
// Afterwards the Importer asks the server which measures it dropped.
package csvimport
