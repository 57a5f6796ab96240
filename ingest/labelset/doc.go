// Package labelset gathers the labels of a series, as decoders of protocols find them.
package labelset
