// Package clientcmd is empty: go mod tidy looks for it, as a test of the engine names it.
package clientcmd
