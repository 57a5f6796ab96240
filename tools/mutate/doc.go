// Command mutate changes one expression or statement of a package at a time, runs the tests that should notice it, and
// lists the changes that none noticed: each is a line of the product without a test.
//
//	go run ./tools/mutate -n 100 ./storage/... ./metricd/... ./query/... ./cluster/...
//
// A mutant reaches the compiler as an overlay, so the tree stays as it is and several are tried side by side. First the
// package's own tests run, then those of the packages that import it, then those of -wider; a mutant that does not
// compile or that a test finds, also by its time limit, is done with.
package main
