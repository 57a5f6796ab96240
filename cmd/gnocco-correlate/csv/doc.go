// Package csv reads the columns of a CSV file, as fast as the cores can parse numbers, in memory that does not grow
// with it.
//
// A Reader is a correlate.Source (start in reader.go). One goroutine cuts the text into blocks of whole records,
// several parse blocks into columns, and one hands them on in the order of the file. The rules and the reader of
// records are those of cmd/gnocco-import/csv, as in "import csv". Plain numbers are read by this package's own parser,
// which gives the bits of strconv.ParseFloat, and leaves the rare difficult ones to it.
//
// Columns without a number in the first rows, such as names, are left out, and so are the columns of times. A cell is
// missing where it is empty or says so (NA, NaN, null …); any other text in a column of numbers is a bad cell, which is
// reported, and then missing or an error. The cells of a malformed record are all missing.
package csv
