// Package crash kills a running gnocco and holds it to its promise: an acknowledged measure is there, once.
package crash
