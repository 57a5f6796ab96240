// Command gnocco is a time-series database that speaks Gnocchi's REST API.
//
// Each subcommand has a file here that defines its flags. Its work is in a package with options: server, or a package
// below internal/. Only this package reads flags, environment variables and the configuration file (settings.go has
// their order).
package main
