// Package fatal ends a test at its first error.
package fatal
