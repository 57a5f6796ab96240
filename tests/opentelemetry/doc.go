// Package opentelemetry holds tests in which OpenTelemetry's SDK, and Prometheus' own client of remote write 2, send to
// a server. Their modules stay out of the server's: this is a module of its own.
package opentelemetry
