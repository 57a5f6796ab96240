// Package progress shows commands' progress: as a bar on a terminal, by a line from time to time elsewhere.
package progress
