// Package promql serves Prometheus' HTTP API, version 1: its routes (handlers.go), how parameters are read
// (parameters.go), and how results and errors are written (answer.go, values.go).
//
// Package query/promql evaluates. The invariant: every answer is an object with status, and where it failed errorType
// and error, as Prometheus' clients want it.
package promql
