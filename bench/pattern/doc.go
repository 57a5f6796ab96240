// Package pattern makes the values of series: the same for the same seed, on every machine.
package pattern
