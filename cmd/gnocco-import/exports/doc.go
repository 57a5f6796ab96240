// Package exports has the flags and help of gnocco export.
package exports
