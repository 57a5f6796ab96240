//go:build !race

package cu_test

const raceEnabled = false
