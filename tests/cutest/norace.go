//go:build !race

package cutest

// Race reports whether the race detector is there.
const Race = false
