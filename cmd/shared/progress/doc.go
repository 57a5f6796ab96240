// Package progress shows commands' progress: in a line that changes on a terminal, by a line from time to time
// elsewhere.
package progress
