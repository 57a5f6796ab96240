// Package etcd runs the contract of claim.Coordinator, and servers with a damaged folder, against an etcd server within
// the test. It is a module of its own, so that gnocco's has the client alone: go test ./... in this folder runs it.
package etcd
