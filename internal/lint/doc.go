// Package lint holds checks of the source tree itself, as ordinary tests: which package may import which, that every
// package says in its doc.go what it is for, that nothing is left undone in a comment, that pages name and link only
// what is there.
package lint
