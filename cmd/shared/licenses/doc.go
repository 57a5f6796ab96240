// Package licenses has the command by which each program prints the licences of its parts.
package licenses
