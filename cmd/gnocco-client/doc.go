// Command gnocco-client asks a server, and links none: it lists, shows, queries, changes and deletes its metrics.
// gnocco becomes this program for its commands that ask a server. Alone, it asks a remote one.
//
// Each subcommand has a file here. series finds the metrics that arguments mean, complete proposes words to shells:
// gnocco-import uses both.
package main
