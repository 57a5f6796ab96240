// Package csv has the rules by which texts of comma-separated values are read, for `gnocco import csv` and for
// gnocco-correlate: packing and encoding (source.go), records (reader.go, start there; dialect.go, units.go), columns
// of times and their form (times.go, time_form.go), and forms of numbers (number_form.go). A form that a sample of the
// cells leaves open is an error, not a guess.
package csv
