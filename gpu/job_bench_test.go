package gpu_test

import (
	"testing"

	"gnocco/gpu"
)

// BenchmarkJob is the host's part of a job on the fake driver: its allocations are what counts.
func BenchmarkJob(b *testing.B) {
	fake(b)
	p := load(b, open(b, gpu.Options{}))
	job := newScaling(p, 1000, 1)
	b.ReportAllocs()
	for b.Loop() {
		if err := p.device.Run(b.Context(), job); err != nil {
			b.Fatal(err)
		}
	}
	job.check(b)
}
