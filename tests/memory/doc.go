// Package memory attacks a running gnocco with requests that take much memory, and holds it to its limit.
package memory
