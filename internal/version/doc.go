// Package version holds Gnocco's version. It is written here and nowhere else.
package version
