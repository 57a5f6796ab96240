// Package cluster runs real processes of both roles on one folder, and ends some of them. It asks of every way that a
// cluster may change: is everything that was answered with 202 there, once?
package cluster
