// Package closers ends the parts of a process.
package closers
