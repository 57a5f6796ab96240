// Package parallel divides jobs among goroutines.
package parallel
