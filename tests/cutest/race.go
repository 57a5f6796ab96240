//go:build race

package cutest

// Race reports whether the race detector is there. It makes sync.Pool forget at random, so that pooled memory is
// allocated again. And it makes nothing of kernels on the host, which are C++.
const Race = true
