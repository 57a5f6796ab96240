// Package crash kills a running gnocco and holds it to its promise: what was acknowledged is there, once.
package crash
