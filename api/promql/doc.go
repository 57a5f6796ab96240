// Package promql is the form of Prometheus' HTTP API, version 1: how parameters are read (parameters.go), and how
// results and errors are written (answer.go, values.go).
//
// Package api routes and authorizes, and package query/promql evaluates. The invariant: every answer is an object with
// status, and where it failed errorType and error, as Prometheus' clients want it.
package promql
