// Command site builds static pages of docs/: navigation by kind, a search over titles and headings that needs no
// server, and a check of every link.
package main
