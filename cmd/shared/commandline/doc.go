// Package commandline is what the command lines of gnocco, gnocco-client and gnocco-import have in common: settings by
// flags, environment and configuration file, the command config, and errors. Each command has its settings in one
// program only, which reads them itself.
package commandline
