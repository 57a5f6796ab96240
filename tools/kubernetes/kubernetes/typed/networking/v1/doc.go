// Package v1 is empty: go mod tidy looks for it, as a test of the engine names it.
package v1
