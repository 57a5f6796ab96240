// Package csv reads the columns of a CSV file, as fast as the cores can parse numbers, in memory that does not grow
// with it.
//
// A Reader is a correlate.Source (start in reader.go). One goroutine cuts the text into blocks of whole records,
// several parse blocks into columns, and one hands them on in the order of the file. Numbers are read by this package's
// own parser, which gives the bits of strconv.ParseFloat, and leaves the rare difficult ones to it.
//
// The first record is the header. Columns without a number in the first rows, such as names, or times as text, are left
// out. So is a column of timestamps that are numbers. A cell is missing where it is empty or says so (NA, NaN, null …);
// any other text in a column of numbers is a bad cell, which is reported, and then missing or an error.
//
// The rules of quotes are those of encoding/csv, and of "import csv": a field that begins with a quote ends with the
// next one and may hold commas, line ends and doubled quotes, which stand for one. A quote within any other field, and
// text after a closing quote, are malformed: here that cell is bad, where an import rejects the record.
package csv
