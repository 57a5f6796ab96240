package device_test

import (
	"testing"

	"github.com/gnocco-db/gnocco/tests/devicetest"
	"github.com/gnocco-db/gnocco/tests/fatal"

	"github.com/gnocco-db/gnocco/gpu/device"
)

// BenchmarkJob is the host's part of a job on the fake driver: its allocations are what counts.
func BenchmarkJob(b *testing.B) {
	fake(b)
	p := load(b, devicetest.Open(b, device.Options{}))
	job := newScaling(p, 1000, 1)
	b.ReportAllocs()
	for b.Loop() {
		fatal.If(b, p.device.Run(b.Context(), job))
	}
	job.check(b)
}
