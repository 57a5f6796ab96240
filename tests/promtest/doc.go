// Package promtest holds what tests need of Prometheus beside its engine: series for the engine to read, blocks, and
// the scripts that come with the engine. Prometheus' own packages for that, teststorage and promqltest, link its tsdb
// and with it the clients of three clouds and Kubernetes: only the module tests/prometheus uses them.
package promtest
