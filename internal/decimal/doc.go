// Package decimal has what every reader and writer of decimal numbers needs: powers of ten, and the step from a
// decimal's digits to a float64. It imports nothing.
package decimal
