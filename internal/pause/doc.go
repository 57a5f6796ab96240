// Package pause waits for a while, or until a context ends.
package pause
