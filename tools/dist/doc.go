// Command dist makes what Gnocco is installed from: Debian packages, archives of the static program, a container image,
// lists of what is inside, and checksums. From the same commit it makes the same bytes: times are the commit's, names
// are sorted.
//
//	go run . -out ../../dist
//
// It is a module of its own, so that the product needs nothing of it. docs/installing.md says what is in what it makes.
package main
