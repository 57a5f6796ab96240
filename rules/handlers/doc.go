// Package handlers serves recording rules by HTTP: our own routes, and Prometheus' list of rules.
package handlers
