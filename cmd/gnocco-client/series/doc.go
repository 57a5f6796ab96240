// Package series finds the metrics of a server that a command's arguments mean, names them as people do, and reads
// their aggregates.
package series
