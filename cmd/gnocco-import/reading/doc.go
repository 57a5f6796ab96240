// Package reading shows how much of a command's files has been read.
package reading
