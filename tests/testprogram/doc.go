// Package testprogram builds the programs of this module that tests run, once for all packages.
package testprogram
