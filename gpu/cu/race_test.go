//go:build race

package cu_test

// raceEnabled: the race detector makes sync.Pool forget at random, so that pooled memory is allocated again.
const raceEnabled = true
