// Package lint holds checks of the source tree itself, as ordinary tests: the imports of each package, the package
// comment in its doc.go, plain English in comments and pages (english_test.go), no work put off, names and links that
// exist.
package lint
