// Package measures decodes the measures in the bodies of requests. It stands at the very start of a measure's way in:
// body, then model.Measures, then storage/incoming.
//
// There are two paths. The scanner (scanner.go) knows the shape that nearly all clients send and gives up at the first
// surprise; it has no error but that. The document parser (json_document.go, parser.go, list.go) takes everything that
// Gnocchi takes and words the errors. A fuzz test holds them equal: where the scanner does not give up, both give the
// same bits. Read decoder.go first. docs/decisions/0006-measures-json.md has the numbers behind this.
//
// The JSON is that of the parser that Gnocchi uses, not of RFC 8259. NaN, Infinity and -Infinity stand bare. Numbers
// may have leading zeros or end in a point. Strings may hold control characters. Of duplicate keys the last one counts.
// Nesting ends at 1024. That parser accepts some obvious faults, such as "-" for 0; they are refused here.
//
// A list of measures is read in the form of its first timestamp (model.TimestampForm). Gnocchi takes a number after
// ISO timestamps for nanoseconds and null for no time at all; here both are refused.
package measures
