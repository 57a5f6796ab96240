// Package tile measures columns, packs them into small panels and multiplies these: the inner loops of package
// correlate, in which nearly all of its time goes.
//
// A panel holds Panel columns of the same rows, a row's values side by side: value (row k, column c) is
// panel[k*Panel+c]. Gram gives the sums over rows of the products of three panels' columns with one panel's. Every sum
// is one chain of fused multiply-adds in the order of rows, in every implementation (AVX-512, AVX2 and plain Go): so a
// result has the same bits on every machine.
//
// Measure and Pack add up in an order that does not depend on the machine, either.
//
// The assembly comes from gen (go generate); docs/decisions/0024-correlations.md has its gain.
package tile

//go:generate go -C ../../tools/pinned run ./tilegen -out gram_amd64.s -stubs gram_amd64_stubs.go -pkg tile
