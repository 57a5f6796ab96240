// Package imports has the commands of gnocco import: their flags and help.
package imports
