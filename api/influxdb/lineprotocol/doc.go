// Package lineprotocol decodes InfluxDB's line protocol, from senders and from files. Read lines.go first, then
// target_metric.go.
//
// A line is
//
//	measurement,tag=value,… field=value,… timestamp
//
// and each numeric field of it a measure. The mapping is Gnocchi's: the database is a resource type; the value of one
// tag, "host" unless the client says otherwise, is the resource's ID; the metric is named
// "measurement.field@tag=value,…", of the other tags by name, and a slash in it becomes "_".
//
// The hot path does not take a line's head, its measurement and tags, apart: the bytes as they stand tell one metric
// from another, and only of metrics not seen before is the head parsed and checked.
//
// Lines are read as Gnocchi reads them. A measurement, tag or field may stand in double quotes; otherwise a backslash
// escapes space, comma and equals sign, and stands for itself before anything else. Fields of text are left out, and a
// line of such fields alone is refused. Beyond Gnocchi, which refuses these or ignores what follows: integers may be
// negative or unsigned ("-1i", "1u"), booleans count as 1 and 0, several blanks are as good as one, lines that begin
// with "#" are comments, the precision of timestamps may be told, blanks may stand before a line, and a text in quotes
// may hold line ends. Text after the timestamp of a line is a fault, and so are a number out of its type's range and a
// tag that stands there twice. A line with a fault is refused by itself, as InfluxDB does.
package lineprotocol
