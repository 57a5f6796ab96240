// Package prometheus holds tests that link all of Prometheus: the scripts that come with its engine, run by its own
// runner, and blocks that its tsdb writes. They are a module of their own because this is 206 packages more, among them
// the clients of two clouds and of Kubernetes.
package prometheus
