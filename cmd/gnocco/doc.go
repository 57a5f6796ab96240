// Command gnocco is a time-series database that speaks Gnocchi's REST API.
//
// Each subcommand has a file here that defines its flags; what it does stands in a package that takes options:
// server, and those below internal/. Flags, environment variables and the configuration file are read here and
// nowhere else (settings.go says which goes first).
package main
