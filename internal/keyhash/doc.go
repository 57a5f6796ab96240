// Package keyhash tells keys of any length from each other by a hash of 128 bits, so that a table need not keep them.
package keyhash
