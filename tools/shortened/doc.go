// Command shortened takes folders and prints a pattern for go test -run. It matches the tests that -short shortens, as
// they reach testing.Short, directly or through other functions.
package main
