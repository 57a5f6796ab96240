// Package testnode is the whole store without HTTP, for tests: index, incoming and sacks on a file system of the test's
// choice, wired as serve wires them.
package testnode
