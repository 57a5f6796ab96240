// Command testsum reads the output of go test -json and prints it for people: a line a package, the output of failures,
// why tests were skipped, and last how many tests there were, as "N passed, N failed, N skipped". It exits with 1 if
// anything failed.
package main
