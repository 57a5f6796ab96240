// Command dist makes the files to install Gnocco from: Debian packages, archives of the static program, a container
// image, lists of their contents, and checksums. From the same commit it makes the same bytes: times are the commit's,
// names are sorted.
//
//	go run . -out ../../dist
//
// It is a module of its own, so that the product needs nothing of it. docs/how-to/install.md lists the contents of
// each.
package main
