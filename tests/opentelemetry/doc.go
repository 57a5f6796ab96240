// Package opentelemetry holds tests in which OpenTelemetry's SDK sends to a server. The SDK's modules stay out of the
// server's: this is a module of its own.
package opentelemetry
